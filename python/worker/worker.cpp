// `troupe._worker_core`: a worker inside a Python interpreter, and Python functions as ops. It is an extension module,
// which `troupe/_worker.py` imports to serve, and at the same time a plugin (troupe/plugin.h), which `plugin.call`
// finds by its path: so the rest of Troupe knows of functions and nothing of Python.
//
// The first array of every call is its box, memory that the app sees: what the function returns or raises is laid down
// there (troupe/_travel.py), and the Python stack when the function crashes or nears its deadline.
#define Py_LIMITED_API 0x030A0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <unistd.h>

#include <cstring>
#include <utility>

#include "running_calls.hpp"
#include "troupe/plugin.h"
#include "troupe/wire/zygote.hpp"
#include "troupe/worker/last_words.hpp"
#include "troupe/worker/sandbox.hpp"
#include "troupe/worker/serve.hpp"

namespace troupe::python {
namespace {

/// What the worker's Python program has given: `on_call` runs a function. There is one, as there is one interpreter.
PyObject* on_call = nullptr;

/// This thread with the interpreter lock. A thread keeps what the interpreter knows of it from call to call, to its
/// end.
class Locked {
 public:
  Locked() {
    if (kept.state == nullptr)
      kept.before = PyGILState_Ensure();
    else
      PyEval_RestoreThread(kept.state);
  }
  ~Locked() { kept.state = PyEval_SaveThread(); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  struct Kept {
    PyThreadState* state = nullptr;
    PyGILState_STATE before{};
    ~Kept() {
      if (state == nullptr) return;
      PyEval_RestoreThread(state);
      PyGILState_Release(before);
    }
  };
  static thread_local Kept kept;
};
thread_local Locked::Kept Locked::kept;

/// Owns a reference; null is allowed.
class Owned {
 public:
  explicit Owned(PyObject* object) noexcept : object_(object) {}
  ~Owned() { Py_XDECREF(object_); }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  PyObject* get() const noexcept { return object_; }
  PyObject* release() noexcept { return std::exchange(object_, nullptr); }
  explicit operator bool() const noexcept { return object_ != nullptr; }

 private:
  PyObject* object_;
};

/// Null with an exception, like all that makes an object here.
PyObject* tuple_of(const std::int64_t* numbers, std::uint32_t count) {
  Owned tuple(PyTuple_New(count));
  for (std::uint32_t i = 0; tuple && i < count; ++i) {
    PyObject* const number = PyLong_FromLongLong(numbers[i]);
    if (number == nullptr) return nullptr;
    PyTuple_SetItem(tuple.get(), i, number);  // takes it
  }
  return tuple.release();
}

/// (address, number of the type, shape, strides in elements, access)
PyObject* array_for_python(const TroupeArray& array) {
  Owned shape(tuple_of(array.shape, array.rank));
  Owned strides(tuple_of(array.strides, array.rank));
  if (!shape || !strides) return nullptr;
  return Py_BuildValue("KIOOI", static_cast<unsigned long long>(reinterpret_cast<std::uintptr_t>(array.data)),
                       array.dtype, shape.get(), strides.get(), array.access);
}

PyObject* arrays_for_python(const TroupeCall& call) {
  Owned all(PyTuple_New(call.array_count));
  for (std::uint32_t i = 0; all && i < call.array_count; ++i) {
    PyObject* const one = array_for_python(call.arrays[i]);
    if (one == nullptr) return nullptr;
    PyTuple_SetItem(all.get(), i, one);  // takes it
  }
  return all.release();
}

/// What `on_call` answered: None, or why it failed: (has refused, sentence).
TroupeStatus status_of(PyObject* answer, const TroupeCall* call) {
  if (answer == Py_None) return TROUPE_OK;
  int has_refused = 0;
  PyObject* sentence = nullptr;
  if (answer == nullptr || !PyArg_ParseTuple(answer, "pU", &has_refused, &sentence)) return TROUPE_FAILED;
  Py_ssize_t size = 0;
  const char* const text = PyUnicode_AsUTF8AndSize(sentence, &size);
  if (text != nullptr) call->set_error(call, 0, text);
  return has_refused != 0 ? TROUPE_REFUSED : TROUPE_FAILED;
}

TroupeStatus call_python(const TroupeCall* call) {
  const Locked locked;
  Owned arrays(arrays_for_python(*call));
  Owned arguments(arrays ? Py_BuildValue("sy#OK", call->function, static_cast<const char*>(call->parameters),
                                         static_cast<Py_ssize_t>(call->parameter_bytes), arrays.get(),
                                         static_cast<unsigned long long>(reinterpret_cast<std::uintptr_t>(call->lane)))
                         : nullptr);
  Owned answer(arguments ? PyObject_CallObject(on_call, arguments.get()) : nullptr);
  const TroupeStatus status = status_of(answer.get(), call);
  if (PyErr_Occurred() != nullptr) {
    PyErr_Print();
    call->set_error(call, 0, "the worker could not call the function; what Python says of it is in the log");
  }
  return status;
}

TroupeStatus call_function(const TroupeCall* call) {
  if (on_call == nullptr) {
    call->set_error(call, 0, "this worker runs no Python functions: it is not a process of troupe/_worker.py");
    return TROUPE_REFUSED;
  }
  if (call->array_count == 0 || call->arrays[0].dtype != TROUPE_U8 || call->arrays[0].rank != 1 ||
      call->arrays[0].shape[0] < kStackEnd || call->parameter_bytes < sizeof(std::int64_t)) {
    call->set_error(call, 0, "a call of a Python function begins with its box and its deadline");
    return TROUPE_REFUSED;
  }
  std::int64_t deadline_ns = 0;
  std::memcpy(&deadline_ns, call->parameters, sizeof deadline_ns);
  const RunningCall running(static_cast<std::byte*>(call->arrays[0].data), deadline_ns);
  return call_python(call);
}

constexpr TroupeFunction kFunctions[] = {{"*", call_function}};
constexpr TroupePlugin kPlugin = {TROUPE_PLUGIN_MAGIC, TROUPE_PLUGIN_ABI_VERSION, "python", 1, kFunctions};

// ---- the module ----

/// The app reads what we print.
void log_to_app(const LogRecord& record) {
  std::fprintf(stderr, "troupe:%s:%.*s\n", std::string(name(record.level)).c_str(),
               static_cast<int>(record.message.size()), record.message.data());
}

/// Calls `prepare`, with the interpreter lock; its exception becomes the reason why the worker cannot serve.
Result<void> run_prepare(PyObject* prepare) {
  const PyGILState_STATE before = PyGILState_Ensure();
  Owned answer(PyObject_CallObject(prepare, nullptr));
  Result<void> end;
  if (!answer) {
    PyErr_Print();
    end = fail(ErrorKind::invalid_argument, "the Python worker could not begin; what Python says of it is in the log");
  } else if (PyUnicode_Check(answer.get()) != 0) {
    Py_ssize_t size = 0;
    const char* const why = PyUnicode_AsUTF8AndSize(answer.get(), &size);
    end = fail(ErrorKind::invalid_argument, why == nullptr ? "the Python worker could not begin" : why);
  }
  PyGILState_Release(before);
  return end;
}

PyObject* serve_app(PyObject*, PyObject* arguments) {
  int socket = -1;
  PyObject* prepare = nullptr;
  PyObject* handler = nullptr;
  if (PyArg_ParseTuple(arguments, "iOO", &socket, &prepare, &handler) == 0) return nullptr;
  Py_INCREF(handler);
  on_call = handler;
  worker::Title title(0, nullptr);  // the interpreter has read its arguments
  bool is_served = false;
  Py_BEGIN_ALLOW_THREADS;
  is_served = worker::serve(wire::Socket(wire::Descriptor(socket)), {.owns_process = true,
                                                                     .log = log_to_app,
                                                                     .title = &title,
                                                                     .crashing = write_stack,
                                                                     .entered = [&] { return run_prepare(prepare); }})
                  .has_value();
  Py_END_ALLOW_THREADS;
  return PyLong_FromLong(is_served ? 0 : 1);
}

/// What `fork` (os.fork) answers; it prints its exception, and then gives -1.
pid_t forked_by(PyObject* fork) {
  const Owned answer(PyObject_CallObject(fork, nullptr));
  const long pid = answer ? PyLong_AsLong(answer.get()) : -1;
  if (PyErr_Occurred() != nullptr) PyErr_Print();
  return static_cast<pid_t>(pid);
}

/// Serves the app's orders until it hangs up: False then. True in each worker.
PyObject* be_zygote(PyObject*, PyObject* arguments) {
  int socket = -1;
  const char* why_not = nullptr;
  PyObject* fork = nullptr;
  if (PyArg_ParseTuple(arguments, "isO", &socket, &why_not, &fork) == 0) return nullptr;
  wire::Socket app{wire::Descriptor(socket)};
  if (!wire::say_ready(app, why_not)) Py_RETURN_FALSE;
  for (;;) {
    Result<wire::ForkOrder> order = wire::receive_order(app);
    if (!order) Py_RETURN_FALSE;
    const pid_t zygote = getpid();
    const pid_t keeper = forked_by(fork);
    if (keeper < 0) Py_RETURN_FALSE;  // the app hears that we end
    if (keeper > 0) continue;
    if (!wire::begin_to_keep(zygote)) _exit(1);
    const pid_t ours = getpid();
    const pid_t worker = forked_by(fork);
    if (worker < 0) _exit(1);
    if (worker > 0) wire::keep_fork(std::move(app), std::move(*order), worker);
    if (!wire::begin_fork(std::move(app), std::move(*order), ours)) _exit(1);
    Py_RETURN_TRUE;
  }
}

PyObject* enter_sandbox(PyObject*, PyObject* arguments) {
  int level = 0;
  const char* backend = nullptr;
  if (PyArg_ParseTuple(arguments, "is", &level, &backend) == 0) return nullptr;
  const Result<void> entered = worker::enter_sandbox(
      {.level = static_cast<Sandbox>(level), .backend = backend, .readable_paths = {}, .writable_paths = {}},
      log_to_app);
  if (entered) Py_RETURN_NONE;
  PyErr_SetString(PyExc_OSError, entered.error().to_string().c_str());
  return nullptr;
}

PyObject* show_stacks_of(PyObject*, PyObject* arguments) {
  int signal = 0;
  int file = -1;
  if (PyArg_ParseTuple(arguments, "ii", &signal, &file) == 0) return nullptr;
  if (!write_stacks_by(signal, file)) return PyErr_SetFromErrno(PyExc_OSError);
  Py_RETURN_NONE;
}

PyObject* exit_now(PyObject*, PyObject* arguments) {
  int code = 0;
  if (PyArg_ParseTuple(arguments, "i", &code) == 0) return nullptr;
  write_stack();
  worker::exit_with_words(code);
}

PyMethodDef methods[] = {
    {"serve", serve_app, METH_VARARGS, "serve(socket, prepare, on_call): serves the app until it hangs up"},
    {"write_stacks_by", show_stacks_of, METH_VARARGS,
     "write_stacks_by(signal, file): faulthandler answers that signal by writing into that file"},
    {"be_zygote", be_zygote, METH_VARARGS,
     "be_zygote(socket, why_not, fork): forks workers until the app hangs up; False then, True in each worker"},
    {"enter_sandbox", enter_sandbox, METH_VARARGS, "enter_sandbox(level, backend): as a worker does"},
    {"exit", exit_now, METH_VARARGS, "exit(code): ends the process at once, and says where it was"},
    {nullptr, nullptr, 0, nullptr}};

PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_worker_core", nullptr, -1, methods, nullptr, nullptr, nullptr, nullptr};

}  // namespace
}  // namespace troupe::python

extern "C" [[gnu::visibility("default")]] const TroupePlugin* troupe_plugin(void) { return &troupe::python::kPlugin; }

PyMODINIT_FUNC PyInit__worker_core() { return PyModule_Create(&troupe::python::definition); }
