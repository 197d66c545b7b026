//! The part of include/dtrace.h that is used, as Rust sees it.
use std::os::raw::{c_char, c_int, c_long, c_uint, c_void};

pub enum Handle {}
pub enum Program {}
pub enum Value {}
pub enum Record {}
pub enum Row {}

#[repr(C)]
pub struct ErrPos {
    pub file: *const c_char,
    pub line: c_uint,
    pub column: c_uint,
    pub source: *const c_char,
    pub message: *const c_char,
}

#[repr(C)]
pub struct CompileOpts {
    pub size: usize,
    pub spec: c_int,
    pub argc: c_int,
    pub argv: *const *const c_char,
    pub name: *const c_char,
}

#[repr(C)]
pub struct ProbeInfo {
    pub id: c_uint,
    pub provider: *const c_char,
    pub module: *const c_char,
    pub function: *const c_char,
    pub name: *const c_char,
}

#[repr(C)]
pub struct ValueInfo {
    pub kind: c_int,
    pub name: *const c_char,
    pub data: *const c_void,
    pub size: usize,
    pub u: u64,
    pub is_signed: c_int,
    pub is_pointer: c_int,
    pub pid: c_long,
    pub nchildren: c_uint,
    pub nframes: c_uint,
}

#[repr(C)]
pub struct Frame {
    pub size: usize,
    pub address: u64,
    pub module: *const c_char,
    pub symbol: *const c_char,
    pub offset: u64,
    pub helper: *const c_char,
    pub file: *const c_char,
    pub line: c_uint,
}

#[repr(C)]
pub struct RecordInfo {
    pub probe: ProbeInfo,
    pub cpu: c_uint,
    pub time: u64,
    pub clause: c_uint,
    pub line: c_uint,
    pub nitems: c_uint,
}

#[repr(C)]
pub struct Item {
    pub action: *const c_char,
    pub text: *const c_char,
    pub textlen: usize,
    pub nvalues: c_uint,
}

#[repr(C)]
pub struct Bucket {
    pub low: i64,
    pub high: i64,
    pub count: i64,
}

#[repr(C)]
pub struct RowInfo {
    pub name: *const c_char,
    pub function: *const c_char,
    pub id: c_uint,
    pub nkeys: c_uint,
    pub normal: u64,
    pub value: i64,
    pub buckets: *const Bucket,
    pub nbuckets: c_uint,
    pub snapshot: c_uint,
    pub at_exit: c_int,
}

#[repr(C)]
pub struct Drop {
    pub text: *const c_char,
    pub kind: *const c_char,
    pub count: u64,
    pub total: u64,
    pub cpu: c_int,
}

#[repr(C)]
pub struct Fault {
    pub text: *const c_char,
    pub probe: ProbeInfo,
    pub clause: c_uint,
    pub cpu: c_uint,
    pub time: u64,
    pub code: c_uint,
    pub what: *const c_char,
    pub action: c_uint,
    pub offset: c_int,
    pub value: u64,
    pub file: *const c_char,
    pub line: c_uint,
    pub column: c_uint,
    pub expression: *const c_char,
    pub reason: *const c_char,
}

#[repr(C)]
pub struct Process {
    pub text: *const c_char,
    pub pid: c_long,
    pub ended: c_int,
    pub status: c_int,
}

pub type RowFn = extern "C" fn(*const Row, *mut c_void) -> c_int;

#[repr(C)]
pub struct Consumer {
    pub size: usize,
    pub arg: *mut c_void,
    pub record: Option<extern "C" fn(*const Record, *mut c_void) -> c_int>,
    pub aggregation: Option<RowFn>,
    pub drop: Option<extern "C" fn(*const Drop, *mut c_void) -> c_int>,
    pub fault: Option<extern "C" fn(*const Fault, *mut c_void) -> c_int>,
    pub process: Option<extern "C" fn(*const Process, *mut c_void) -> c_int>,
    pub note: Option<extern "C" fn(*const c_char, *mut c_void) -> c_int>,
}

extern "C" {
    pub fn dtrace_open(opts: *const c_void) -> *mut Handle;
    pub fn dtrace_close(h: *mut Handle);
    pub fn dtrace_errno(h: *const Handle) -> c_int;
    pub fn dtrace_errtext(h: *const Handle) -> *const c_char;
    pub fn dtrace_errtag(h: *const Handle) -> *const c_char;
    pub fn dtrace_errwhere(h: *const Handle, pos: *mut ErrPos);
    pub fn dtrace_setopt(h: *mut Handle, name: *const c_char, value: *const c_char) -> c_int;
    pub fn dtrace_compile_string(h: *mut Handle, text: *const c_char, opts: *const CompileOpts) -> *mut Program;
    pub fn dtrace_enable(h: *mut Handle, p: *mut Program, info: *mut c_void) -> c_int;
    pub fn dtrace_proc_create(h: *mut Handle, argv: *const *const c_char) -> c_long;
    pub fn dtrace_proc_grab(h: *mut Handle, pid: c_long) -> c_int;
    pub fn dtrace_consume(h: *mut Handle, c: *const Consumer) -> c_int;
    pub fn dtrace_go(h: *mut Handle) -> c_int;
    pub fn dtrace_stop(h: *mut Handle) -> c_int;
    pub fn dtrace_work(h: *mut Handle, out: *mut c_void) -> c_int;
    pub fn dtrace_sleep(h: *mut Handle);
    pub fn dtrace_interrupt(h: *mut Handle);
    pub fn dtrace_exit_status(h: *const Handle) -> c_int;
    pub fn dtrace_aggregate_walk(h: *mut Handle, f: RowFn, arg: *mut c_void) -> c_int;
    pub fn dtrace_record_info(r: *const Record) -> *const RecordInfo;
    pub fn dtrace_record_item(r: *const Record, i: c_uint) -> *const Item;
    pub fn dtrace_record_value(r: *const Record, item: c_uint, i: c_uint) -> *const Value;
    pub fn dtrace_row_info(r: *const Row) -> *const RowInfo;
    pub fn dtrace_row_key(r: *const Row, i: c_uint) -> *const Value;
    pub fn dtrace_value_info(v: *const Value) -> *const ValueInfo;
    pub fn dtrace_value_double(v: *const Value) -> f64;
    pub fn dtrace_value_child(v: *const Value, i: c_uint) -> *const Value;
    pub fn dtrace_value_frame(v: *const Value, i: c_uint, f: *mut Frame) -> c_int;
}
