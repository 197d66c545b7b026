//! What happens while tracing, owned by Rust.
use crate::ffi;
use std::ffi::CStr;
use std::fmt;
use std::os::raw::{c_char, c_uint};

/// Where something happened.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Probe {
    pub id: u32,
    pub provider: String,
    pub module: String,
    pub function: String,
    pub name: String,
}

impl fmt::Display for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}:{}", self.provider, self.module, self.function, self.name)
    }
}

/// A place in the kernel or in a program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Frame {
    pub address: u64,
    pub module: Option<String>,
    pub symbol: Option<String>,
    pub offset: u64,
    /// What a ustack helper says of it.
    pub helper: Option<String>,
    /// The source, with option srclines; line 0: not known.
    pub file: Option<String>,
    pub line: u32,
}

/// A value that a program has recorded. Strings are text only if they are UTF-8; else they are `Bytes`.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    None,
    Int(i64),
    Uint(u64),
    Float(f64),
    Str(String),
    Bytes(Vec<u8>),
    /// Members, in order; those of a member without a name have the name "".
    Struct(Vec<(String, Value)>),
    Array(Vec<Value>),
    /// Frames, the innermost first; pid 0 is the kernel.
    Stack { pid: i64, frames: Vec<Frame> },
    Symbol(Frame),
}

/// An action of a record: its name ("trace", "printf" ...), the text of printf(), and its values with their names.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    pub action: String,
    pub text: Option<String>,
    pub values: Vec<(Option<String>, Value)>,
}

/// A clause has fired.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    pub probe: Probe,
    pub cpu: u32,
    /// Nanoseconds, as the D variable timestamp.
    pub time: u64,
    pub clause: u32,
    pub items: Vec<Item>,
}

impl Record {
    /// All values of all items.
    pub fn values(&self) -> impl Iterator<Item = &Value> {
        self.items.iter().flat_map(|i| i.values.iter().map(|(_, v)| v))
    }

    /// The value of that name: trace(execname) is called "execname".
    pub fn named(&self, name: &str) -> Option<&Value> {
        let mut all = self.items.iter().flat_map(|i| i.values.iter());
        all.find(|(n, _)| n.as_deref() == Some(name)).map(|(_, v)| v)
    }
}

/// A part of a distribution: both ends are included; None: open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bucket {
    pub low: Option<i64>,
    pub high: Option<i64>,
    pub count: i64,
}

/// A row of an aggregation.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub name: String,
    pub function: String,
    pub keys: Vec<Value>,
    /// 0 for distributions.
    pub value: i64,
    pub buckets: Vec<Bucket>,
    pub normal: u64,
}

/// A clause has stopped at a run-time error.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// What dtrace would say.
    pub text: String,
    /// None: not a fault of a clause.
    pub probe: Option<Probe>,
    pub clause: u32,
    pub cpu: u32,
    pub time: u64,
    /// DTrace's number: 1 is an invalid address.
    pub code: u32,
    /// "invalid address"
    pub what: String,
    /// 0: the predicate; else from 1.
    pub action: u32,
    /// The address.
    pub value: u64,
    /// The source; None: the command line, or not known.
    pub file: Option<String>,
    /// None: not known, or a program of one line on the command line.
    pub line: Option<u32>,
    pub column: Option<u32>,
    /// As written in the program.
    pub expression: Option<String>,
    /// "address 0x10 is not mapped"
    pub reason: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    Record(Record),
    /// A row of a printa().
    Row(Row),
    Drop { text: String, count: u64 },
    Fault(Fault),
    /// A target process; status, as wait(2) has it, if it has ended.
    Process { text: String, pid: i64, ended: Option<i32> },
    Note(String),
}

/// The C string, if there is one. Names from foreign files may be anything.
pub(crate) unsafe fn text(s: *const c_char) -> Option<String> {
    if s.is_null() {
        None
    } else {
        Some(CStr::from_ptr(s).to_string_lossy().into_owned())
    }
}

pub(crate) unsafe fn fault(f: *const ffi::Fault) -> Fault {
    let f = &*f;
    let known = |n| if n == 0 { None } else { Some(n) };
    Fault {
        text: text(f.text).unwrap_or_default(),
        probe: if f.probe.id == 0 { None } else { Some(probe(&f.probe)) },
        clause: f.clause,
        cpu: f.cpu,
        time: f.time,
        code: f.code,
        what: text(f.what).unwrap_or_default(),
        action: f.action,
        value: f.value,
        file: text(f.file),
        line: known(f.line),
        column: known(f.column),
        expression: text(f.expression),
        reason: text(f.reason),
    }
}

unsafe fn bytes<'a>(data: *const u8, n: usize) -> &'a [u8] {
    if n == 0 {
        &[]
    } else {
        std::slice::from_raw_parts(data, n)
    }
}

pub(crate) unsafe fn probe(p: &ffi::ProbeInfo) -> Probe {
    let field = |s| text(s).unwrap_or_default();
    Probe { id: p.id, provider: field(p.provider), module: field(p.module), function: field(p.function), name: field(p.name) }
}

unsafe fn frame(v: *const ffi::Value, i: c_uint) -> Frame {
    let mut f: ffi::Frame = std::mem::zeroed();
    f.size = std::mem::size_of::<ffi::Frame>();
    ffi::dtrace_value_frame(v, i, &mut f);
    Frame {
        address: f.address,
        module: text(f.module),
        symbol: text(f.symbol),
        offset: f.offset,
        helper: text(f.helper),
        file: text(f.file),
        line: f.line,
    }
}

unsafe fn string_or_bytes(data: &[u8]) -> Value {
    match std::str::from_utf8(data) {
        Ok(s) => Value::Str(s.to_owned()),
        Err(_) => Value::Bytes(data.to_vec()),
    }
}

pub(crate) unsafe fn value(v: *const ffi::Value) -> Value {
    let i = &*ffi::dtrace_value_info(v);
    match i.kind {
        1 if i.is_signed != 0 => Value::Int(i.u as i64),
        1 => Value::Uint(i.u),
        2 => Value::Float(ffi::dtrace_value_double(v)),
        3 => string_or_bytes(bytes(i.data as *const u8, i.size)),
        4 => Value::Bytes(bytes(i.data as *const u8, i.size).to_vec()),
        5 => Value::Struct((0..i.nchildren).map(|n| named(ffi::dtrace_value_child(v, n))).collect()),
        6 => Value::Array((0..i.nchildren).map(|n| value(ffi::dtrace_value_child(v, n))).collect()),
        7 => Value::Stack { pid: i.pid as i64, frames: (0..i.nframes).map(|n| frame(v, n)).collect() },
        8 => Value::Symbol(frame(v, 0)),
        _ => Value::None,
    }
}

unsafe fn named(v: *const ffi::Value) -> (String, Value) {
    (text((*ffi::dtrace_value_info(v)).name).unwrap_or_default(), value(v))
}

pub(crate) unsafe fn record(r: *const ffi::Record) -> Record {
    let info = &*ffi::dtrace_record_info(r);
    let item = |i: c_uint| {
        let it = &*ffi::dtrace_record_item(r, i);
        let one = |n| {
            let v = ffi::dtrace_record_value(r, i, n);
            (text((*ffi::dtrace_value_info(v)).name), value(v))
        };
        Item {
            action: text(it.action).unwrap_or_default(),
            text: if it.text.is_null() {
                None
            } else {
                Some(String::from_utf8_lossy(bytes(it.text as *const u8, it.textlen)).into_owned())
            },
            values: (0..it.nvalues).map(one).collect(),
        }
    };
    Record { probe: probe(&info.probe), cpu: info.cpu, time: info.time, clause: info.clause, items: (0..info.nitems).map(item).collect() }
}

pub(crate) unsafe fn row(r: *const ffi::Row) -> Row {
    let info = &*ffi::dtrace_row_info(r);
    let buckets = if info.nbuckets == 0 { &[][..] } else { std::slice::from_raw_parts(info.buckets, info.nbuckets as usize) };
    let bound = |n: i64, open: i64| if n == open { None } else { Some(n) };
    Row {
        name: text(info.name).unwrap_or_default(),
        function: text(info.function).unwrap_or_default(),
        keys: (0..info.nkeys).map(|i| value(ffi::dtrace_row_key(r, i))).collect(),
        value: info.value,
        buckets: buckets.iter().map(|b| Bucket { low: bound(b.low, i64::MIN), high: bound(b.high, i64::MAX), count: b.count }).collect(),
        normal: info.normal,
    }
}
