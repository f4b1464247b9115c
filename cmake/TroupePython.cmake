# The Python package: the module `troupe._core`, and the worker beside it, which is where it looks first. pip runs this
# by way of pyproject.toml; nanobind and the interpreter come from there.
find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module Development.SABIModule)
execute_process(COMMAND "${Python_EXECUTABLE}" -m nanobind --cmake_dir COMMAND_ERROR_IS_FATAL ANY
                OUTPUT_STRIP_TRAILING_WHITESPACE OUTPUT_VARIABLE nanobind_ROOT)
find_package(nanobind 3 CONFIG REQUIRED)

troupe_glob(python_sources "python/binding/*.cpp")
# One module for Python 3.10 and later: what differs between them is in the package nanobind-backend.
nanobind_add_module(troupe_python BACKEND_MODULE nanobind_backend STABLE_ABI_VERSION 3.10 NB_DOMAIN troupe
                    NB_SUPPRESS_WARNINGS NOMINSIZE ${python_sources})
set_target_properties(troupe_python PROPERTIES OUTPUT_NAME _core CXX_VISIBILITY_PRESET hidden)
target_link_libraries(troupe_python PRIVATE troupe_library)
troupe_own_target(troupe_python)

# The module is a shared object, and everything of the library stays inside it.
target_link_options(troupe_python PRIVATE LINKER:--exclude-libs,ALL)

# A worker inside an interpreter: the backends again, as a module that `troupe/_worker.py` loads.
troupe_glob(python_worker_sources "python/worker/*.cpp")
add_library(troupe_python_worker MODULE ${python_worker_sources})
set_target_properties(troupe_python_worker PROPERTIES OUTPUT_NAME _worker_core PREFIX "" SUFFIX ".abi3.so"
                      CXX_VISIBILITY_PRESET hidden)
target_include_directories(troupe_python_worker SYSTEM PRIVATE ${Python_INCLUDE_DIRS})
target_link_libraries(troupe_python_worker PRIVATE troupe_backends)
target_link_options(troupe_python_worker PRIVATE LINKER:--exclude-libs,ALL)
troupe_own_target(troupe_python_worker)

install(TARGETS troupe_python troupe_python_worker LIBRARY DESTINATION troupe COMPONENT python)
install(TARGETS troupe_worker RUNTIME DESTINATION troupe COMPONENT python)
