"""libdtrace.so as ctypes sees it: where it is, and the functions that are used."""
import ctypes
import os

API_VERSION = 3  # the lowest DTRACE_API_VERSION that has what is used here

OUTPUT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)


class ErrorPlace(ctypes.Structure):
    _fields_ = [('file', ctypes.c_char_p), ('line', ctypes.c_uint), ('column', ctypes.c_uint),
                ('source', ctypes.c_char_p), ('message', ctypes.c_char_p)]


class CompileOptions(ctypes.Structure):
    _fields_ = [('size', ctypes.c_size_t), ('spec', ctypes.c_int), ('argc', ctypes.c_int),
                ('argv', ctypes.POINTER(ctypes.c_char_p)), ('name', ctypes.c_char_p)]


class ProbeInfo(ctypes.Structure):
    _fields_ = [('id', ctypes.c_uint), ('provider', ctypes.c_char_p), ('module', ctypes.c_char_p),
                ('function', ctypes.c_char_p), ('name', ctypes.c_char_p)]


PROBE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ProbeInfo), ctypes.c_void_p)

_handle, _text, _int, _none = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, None
_functions = {
    # name: (result, arguments)
    'dtrace_api_version': (_int, []),
    'dtrace_version': (_text, []),
    'dtrace_open': (_handle, [ctypes.c_void_p]),
    'dtrace_close': (_none, [_handle]),
    'dtrace_errno': (_int, [_handle]),
    'dtrace_errtext': (_text, [_handle]),
    'dtrace_errtag': (_text, [_handle]),
    'dtrace_errwhere': (_none, [_handle, ctypes.POINTER(ErrorPlace)]),
    'dtrace_setopt': (_int, [_handle, _text, _text]),
    'dtrace_compile_string': (ctypes.c_void_p, [_handle, _text, ctypes.POINTER(CompileOptions)]),
    'dtrace_enable': (_int, [_handle, ctypes.c_void_p, ctypes.c_void_p]),
    'dtrace_proc_create': (ctypes.c_long, [_handle, ctypes.POINTER(ctypes.c_char_p)]),
    'dtrace_proc_grab': (_int, [_handle, ctypes.c_long]),
    'dtrace_probe_iter': (_int, [_handle, _text, _int, PROBE, ctypes.c_void_p]),
    'dtrace_handle_output': (_none, [_handle, OUTPUT, ctypes.c_void_p]),
    'dtrace_set_output': (_int, [_handle, ctypes.c_void_p]),
    'dtrace_go': (_int, [_handle]),
    'dtrace_stop': (_int, [_handle]),
    'dtrace_work': (_int, [_handle, ctypes.c_void_p]),
    'dtrace_sleep': (_none, [_handle]),
    'dtrace_interrupt': (_none, [_handle]),
    'dtrace_fd': (_int, [_handle]),
    'dtrace_aggregate_show': (_int, [_handle]),
    'dtrace_aggregate_print': (_int, [_handle, ctypes.c_void_p]),
    'dtrace_exit_status': (_int, [_handle]),
}


def _places():
    """DTRACE_LIBRARY, what the dynamic linker finds, or the build of the tree that this file is in."""
    if os.environ.get('DTRACE_LIBRARY'):
        return [os.environ['DTRACE_LIBRARY']]
    tree = os.path.dirname(os.path.abspath(__file__))
    for _ in range(3):
        tree = os.path.dirname(tree)
    return ['libdtrace.so.1', os.path.join(tree, 'build', 'libdtrace.so.1')]


def _load():
    problems = []
    for place in _places():
        try:
            found = ctypes.CDLL(place)
            break
        except OSError as e:
            problems.append(str(e))
    else:
        raise ImportError('libdtrace is not found: ' + '; '.join(problems))
    if not hasattr(found, 'dtrace_api_version') or found.dtrace_api_version() < API_VERSION:
        raise ImportError('%s is too old: this needs version %d of its interface' % (place, API_VERSION))
    for name, (result, arguments) in _functions.items():
        f = getattr(found, name)
        f.restype, f.argtypes = result, arguments
    return found


lib = _load()
