"""A module that says which processes have imported it."""
import os

import troupe

with open(os.environ.get("TEST_IMPORTS", os.devnull), "a") as log:
    print(os.getpid(), file=log)


@troupe.op
def process():
    return os.getpid()
