"""The program of a Python worker, which a device starts with the app's interpreter. Nobody calls it by hand.

    python _worker.py LIBRARY PATH... --can-fork MODULE... --socket DESCRIPTOR ROOM
    python _worker.py LIBRARY PATH... --can-fork MODULE... --fork DESCRIPTOR LEVEL BACKEND

LIBRARY is `_worker_core` beside this file, PATH... the app's `sys.path`. The second one imports the modules, and then
forks workers (_zygote.py). The app's own `__main__` is never imported.
"""
import sys


def main():
    last = 4 if sys.argv[-4] == "--fork" else 3
    role, number, *rest = sys.argv[-last:]
    library, *all_before = sys.argv[1:-last]
    mark = len(all_before) - 1 - all_before[::-1].index("--can-fork")
    path, modules, socket = all_before[:mark], all_before[mark + 1:], int(number)
    sys.path[:] = path  # the first was this folder, whose modules have names of the standard library's
    sys.argv[:] = ["troupe-worker"]

    import os
    os.environ["TROUPE_CUDA_PRIMARY_CONTEXT"] = "1"  # the one that PyTorch and others use

    import importlib.machinery
    import importlib.util
    loader = importlib.machinery.ExtensionFileLoader("_worker_core", library)
    core = importlib.util.module_from_spec(importlib.util.spec_from_loader("_worker_core", loader, origin=library))
    loader.exec_module(core)
    if role == "--fork":
        os.setpgid(0, 0)  # Ctrl-C is for the app
        level, backend = rest
        core.enter_sandbox(int(level), backend)
        from troupe import _zygote
        if not _zygote.serve(core, socket, modules):
            return 0
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
