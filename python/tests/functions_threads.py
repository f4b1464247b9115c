"""A module that leaves a thread behind where it is imported, unless that is the app."""
import os
import threading

import troupe

if os.environ.get("TEST_THREADS") == "workers":
    threading.Thread(target=threading.Event().wait, daemon=True, name="left-behind").start()


@troupe.op
def threads():
    return [thread.name for thread in threading.enumerate()]
