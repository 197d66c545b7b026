//! Trace the kernel and programs with D.
//!
//! ```no_run
//! use dtrace::{Config, Event, Trace};
//!
//! for event in Trace::open("syscall::openat:entry { trace(execname); }", &Config::default())? {
//!     if let Event::Record(r) = event? {
//!         println!("{} {:?}", r.probe.function, r.named("execname"));
//!     }
//! }
//! # Ok::<(), dtrace::Error>(())
//! ```
mod event;
mod ffi;

pub use event::{Bucket, Event, Frame, Item, Probe, Record, Row, Value};
use event::text;
use std::collections::VecDeque;
use std::ffi::CString;
use std::fmt;
use std::os::raw::{c_char, c_int, c_long, c_void};
use std::ptr;
use std::sync::{Arc, Mutex};

/// How to trace; the default is good.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// As dtrace -x; None for switches.
    pub options: Vec<(String, Option<String>)>,
    /// $1, $2 ...
    pub args: Vec<String>,
    /// A command to run: $target is its pid, and tracing ends with it. Empty: none.
    pub command: Vec<String>,
    /// The same for processes that run.
    pub pids: Vec<i32>,
}

/// What failed; errors in a program have a tag and a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    pub text: String,
    pub message: String,
    pub tag: Option<String>,
    pub file: Option<String>,
    pub line: u32,
    pub column: u32,
    pub code: i32,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Error {}

impl Error {
    fn plain(text: &str) -> Error {
        Error { text: text.into(), message: text.into(), tag: None, file: None, line: 0, column: 0, code: 0 }
    }
}

#[derive(PartialEq)]
enum State {
    Running,
    Over,
}

/// A running trace: an iterator over what happens. Dropping it ends the trace.
///
/// It stays on the thread that opened it (the kernel lets only the thread that holds a process release it); a [`Stopper`] may go anywhere.
pub struct Trace {
    h: *mut ffi::Handle,
    shared: Arc<Shared>,
    events: Box<VecDeque<Event>>, // the library has its address
    state: State,
    failed: Option<Error>,
}

struct Shared {
    handle: Mutex<Address>,
}

struct Address {
    h: *mut ffi::Handle,
    stop: bool,
}

// The pointer is only used for dtrace_interrupt(), which any thread may call while the lock says that it is alive.
unsafe impl Send for Address {}

/// Ends a trace from anywhere.
#[derive(Clone)]
pub struct Stopper(Arc<Shared>);

impl Stopper {
    /// END fires, what is left arrives, and the iterator ends.
    pub fn stop(&self) {
        let mut a = self.0.handle.lock().unwrap();
        a.stop = true;
        if !a.h.is_null() {
            unsafe { ffi::dtrace_interrupt(a.h) }
        }
    }
}

extern "C" fn on_record(r: *const ffi::Record, arg: *mut c_void) -> c_int {
    push(arg, unsafe { Event::Record(event::record(r)) })
}

extern "C" fn on_row(r: *const ffi::Row, arg: *mut c_void) -> c_int {
    push(arg, unsafe { Event::Row(event::row(r)) })
}

extern "C" fn on_drop(d: *const ffi::Drop, arg: *mut c_void) -> c_int {
    push(arg, unsafe { Event::Drop { text: text((*d).text).unwrap_or_default(), count: (*d).count } })
}

extern "C" fn on_fault(f: *const ffi::Fault, arg: *mut c_void) -> c_int {
    push(arg, unsafe { Event::Fault(event::fault(f)) })
}

extern "C" fn on_process(p: *const ffi::Process, arg: *mut c_void) -> c_int {
    push(arg, unsafe {
        let ended = if (*p).ended != 0 { Some((*p).status) } else { None };
        Event::Process { text: text((*p).text).unwrap_or_default(), pid: (*p).pid as i64, ended }
    })
}

extern "C" fn on_note(s: *const c_char, arg: *mut c_void) -> c_int {
    push(arg, unsafe { Event::Note(text(s).unwrap_or_default()) })
}

fn push(arg: *mut c_void, e: Event) -> c_int {
    unsafe { (*(arg as *mut VecDeque<Event>)).push_back(e) };
    0
}

extern "C" fn collect(r: *const ffi::Row, arg: *mut c_void) -> c_int {
    unsafe { (*(arg as *mut Vec<Row>)).push(event::row(r)) };
    0
}

fn c_string(s: &str) -> Result<CString, Error> {
    CString::new(s).map_err(|_| Error::plain("a text has a NUL in it"))
}

/// C strings, and the array of pointers to them that ends in NULL.
fn words<'a>(list: impl Iterator<Item = &'a str>) -> Result<(Vec<CString>, Vec<*const c_char>), Error> {
    let strings = list.map(c_string).collect::<Result<Vec<_>, _>>()?;
    let pointers = strings.iter().map(|s| s.as_ptr()).chain(std::iter::once(ptr::null())).collect();
    Ok((strings, pointers))
}

impl Trace {
    /// Compile the program and start to trace.
    pub fn open(program: &str, config: &Config) -> Result<Trace, Error> {
        let h = unsafe { ffi::dtrace_open(ptr::null()) };
        if h.is_null() {
            return Err(Error::plain("dtrace_open failed"));
        }
        let shared = Arc::new(Shared { handle: Mutex::new(Address { h, stop: false }) });
        let mut t = Trace { h, shared, events: Box::default(), state: State::Running, failed: None };
        t.start(program, config)?;
        Ok(t)
    }

    fn check(&self, rc: c_long) -> Result<c_long, Error> {
        if rc < 0 {
            Err(self.last_error())
        } else {
            Ok(rc)
        }
    }

    fn last_error(&self) -> Error {
        unsafe {
            let mut at: ffi::ErrPos = std::mem::zeroed();
            ffi::dtrace_errwhere(self.h, &mut at);
            Error {
                text: text(ffi::dtrace_errtext(self.h)).unwrap_or_default(),
                message: text(at.message).unwrap_or_default(),
                tag: text(ffi::dtrace_errtag(self.h)),
                file: text(at.file),
                line: at.line,
                column: at.column,
                code: ffi::dtrace_errno(self.h),
            }
        }
    }

    fn set(&self, name: &str, value: Option<&str>) -> Result<(), Error> {
        let (n, v) = (c_string(name)?, value.map(c_string).transpose()?);
        let v = v.as_ref().map_or(ptr::null(), |v| v.as_ptr());
        self.check(unsafe { ffi::dtrace_setopt(self.h, n.as_ptr(), v) } as c_long).map(|_| ())
    }

    fn start(&mut self, program: &str, c: &Config) -> Result<(), Error> {
        for (name, value) in [("bufsize", "4m"), ("aggsize", "4m"), ("temporal", "yes")] {
            self.set(name, Some(value))?;
        }
        for (name, value) in &c.options {
            self.set(name, value.as_deref())?;
        }
        for pid in &c.pids {
            self.check(unsafe { ffi::dtrace_proc_grab(self.h, *pid as c_long) } as c_long)?;
        }
        if !c.command.is_empty() {
            let (_keep, argv) = words(c.command.iter().map(|s| s.as_str()))?;
            self.check(unsafe { ffi::dtrace_proc_create(self.h, argv.as_ptr()) })?;
        }
        let source = c_string(program)?;
        let (_keep, argv) = words(std::iter::once("dtrace").chain(c.args.iter().map(|s| s.as_str())))?;
        let opts = ffi::CompileOpts {
            size: std::mem::size_of::<ffi::CompileOpts>(),
            spec: 0,
            argc: argv.len() as c_int - 1,
            argv: argv.as_ptr(),
            name: ptr::null(),
        };
        let consumer = ffi::Consumer {
            size: std::mem::size_of::<ffi::Consumer>(),
            arg: &mut *self.events as *mut VecDeque<Event> as *mut c_void,
            record: Some(on_record),
            aggregation: Some(on_row),
            drop: Some(on_drop),
            fault: Some(on_fault),
            process: Some(on_process),
            note: Some(on_note),
        };
        unsafe {
            let p = ffi::dtrace_compile_string(self.h, source.as_ptr(), &opts);
            if p.is_null() {
                return Err(self.last_error());
            }
            self.check(ffi::dtrace_enable(self.h, p, ptr::null_mut()) as c_long)?;
            self.check(ffi::dtrace_consume(self.h, &consumer) as c_long)?;
            self.check(ffi::dtrace_go(self.h) as c_long)?;
        }
        Ok(())
    }

    /// For other threads and signal handlers' threads.
    pub fn stopper(&self) -> Stopper {
        Stopper(self.shared.clone())
    }

    /// All aggregations as they are now, each sorted as printa() sorts.
    pub fn aggregations(&mut self) -> Vec<Row> {
        let mut rows: Vec<Row> = Vec::new();
        unsafe { ffi::dtrace_aggregate_walk(self.h, collect, &mut rows as *mut Vec<Row> as *mut c_void) };
        rows
    }

    /// Of exit().
    pub fn exit_status(&self) -> i32 {
        unsafe { ffi::dtrace_exit_status(self.h) }
    }

    /// One piece of work; events are in the queue then.
    fn work(&mut self) -> Result<(), Error> {
        let st = self.check(unsafe { ffi::dtrace_work(self.h, ptr::null_mut()) } as c_long)?;
        let stop = self.shared.handle.lock().unwrap().stop;
        if st > 0 || stop {
            self.state = State::Over;
            self.check(unsafe { ffi::dtrace_stop(self.h) } as c_long)?;
            self.check(unsafe { ffi::dtrace_work(self.h, ptr::null_mut()) } as c_long)?;
        } else if self.events.is_empty() {
            unsafe { ffi::dtrace_sleep(self.h) }
        }
        Ok(())
    }
}

impl Iterator for Trace {
    type Item = Result<Event, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(e) = self.events.pop_front() {
                return Some(Ok(e));
            }
            if let Some(e) = self.failed.take() {
                return Some(Err(e));
            }
            if self.state == State::Over {
                return None;
            }
            if let Err(e) = self.work() {
                self.state = State::Over;
                self.failed = Some(e); // after what came before it
            }
        }
    }
}

impl Drop for Trace {
    fn drop(&mut self) {
        self.shared.handle.lock().unwrap().h = ptr::null_mut();
        unsafe { ffi::dtrace_close(self.h) }
    }
}
