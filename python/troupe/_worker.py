"""The program of a Python worker, which a device starts with the app's interpreter. Nobody calls it by hand.

    python _worker.py LIBRARY PATH... --socket DESCRIPTOR ROOM

LIBRARY is `_worker_core` beside this file, PATH... the app's `sys.path`. The app's own `__main__` is never imported.
"""
import sys


def main():
    end = len(sys.argv) - 1 - sys.argv[::-1].index("--socket")
    library, path, socket = sys.argv[1], sys.argv[2:end], int(sys.argv[end + 1])
    sys.path[:] = path  # the first was this folder, whose modules have names of the standard library's
    sys.argv[:] = ["troupe-worker"]

    import os
    os.environ["TROUPE_CUDA_PRIMARY_CONTEXT"] = "1"  # the one that PyTorch and others use

    import importlib.machinery
    import importlib.util
    loader = importlib.machinery.ExtensionFileLoader("_worker_core", library)
    core = importlib.util.module_from_spec(importlib.util.spec_from_loader("_worker_core", loader, origin=library))
    loader.exec_module(core)
    run = None

    def prepare():
        nonlocal run
        os.setpgid(0, 0)  # Ctrl-C is for the app; we end when it does
        try:
            from troupe import _running
        except Exception as error:
            return f"the Python worker cannot import troupe: {type(error).__name__}: {error}"
        run = _running.begin(core)
        return None

    def on_call(*call):
        try:
            return run(*call)
        except BaseException:
            import traceback
            for line in traceback.format_exc().splitlines():
                print(f"troupe:error:{line}", file=sys.stderr)
            raise

    return core.serve(socket, prepare, on_call)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Exception as error:  # the app logs it
        print(f"troupe:error:the Python worker cannot begin: {type(error).__name__}: {error}", file=sys.stderr)
        raise
