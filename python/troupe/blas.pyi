# Written by python/stubs.py: change that, or what it reads.
from typing import Any
import numpy as np
from troupe.blas import asum as asum
from troupe.blas import axpy as axpy
from troupe.blas import dot as dot
from troupe.blas import gemm_group as gemm_group
from troupe.blas import iamax as iamax
from troupe.blas import iamin as iamin
from troupe.blas import nrm2 as nrm2
from troupe.blas import rot as rot
from troupe.blas import scal as scal
from troupe._array import Array as Array

def gemm(*arrays, **options) -> Array: ...
