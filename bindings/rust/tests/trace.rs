//! Against the real library.
use dtrace::{Bucket, Config, Event, Record, Trace, Value};

fn vm() -> Config {
    Config { options: vec![("engine".into(), Some("vm".into()))], ..Config::default() }
}

fn records(program: &str) -> Vec<Record> {
    let all: Result<Vec<Event>, _> = Trace::open(program, &vm()).unwrap().collect();
    all.unwrap().into_iter().filter_map(|e| if let Event::Record(r) = e { Some(r) } else { None }).collect()
}

#[test]
fn values() {
    let all = records(
        "struct s { int a; int z[2]; }; this struct s v;
         BEGIN { this->v.a = 5; trace((char)-1); trace((uint64_t)-1); trace(\"\\377x\"); printf(\"%s %d\\n\", \"x\", 7); print(this->v); trace(pid); exit(0); }",
    );
    assert_eq!(all.len(), 1);
    let r = &all[0];
    assert_eq!(r.probe.to_string(), "dtrace:::BEGIN");
    assert_eq!(r.items[3].text.as_deref(), Some("x 7\n"));
    let values: Vec<&Value> = r.values().collect();
    assert_eq!(*values[0], Value::Int(-1));
    assert_eq!(*values[1], Value::Uint(u64::MAX));
    assert_eq!(*values[2], Value::Bytes(b"\xffx".to_vec()));
    assert_eq!(*values[3], Value::Str("x".into()));
    let z = Value::Array(vec![Value::Int(0), Value::Int(0)]);
    assert_eq!(*values[5], Value::Struct(vec![("a".into(), Value::Int(5)), ("z".into(), z)]));
    assert_eq!(r.named("pid"), Some(&Value::Int(std::process::id().into())));
}

#[test]
fn aggregations() {
    let mut t = Trace::open("BEGIN { @c[\"b\"] = count(); @c[\"a\"] = count(); @c[\"a\"] = count(); @q = quantize(100); @l = lquantize(-1, 0, 10, 5); exit(3); }", &vm()).unwrap();
    for e in &mut t {
        e.unwrap();
    }
    let rows = t.aggregations();
    let seen: Vec<(&str, &[Value], i64)> = rows.iter().map(|r| (r.name.as_str(), &r.keys[..], r.value)).collect();
    assert_eq!(seen[0], ("c", &[Value::Str("b".into())][..], 1));
    assert_eq!(seen[1], ("c", &[Value::Str("a".into())][..], 2));
    assert_eq!(rows[2].buckets, vec![Bucket { low: Some(64), high: Some(127), count: 1 }]);
    assert_eq!(rows[3].buckets, vec![Bucket { low: None, high: Some(-1), count: 1 }]);
    assert_eq!(t.exit_status(), 3);
}

#[test]
fn errors() {
    let e = Trace::open("BEGIN {\n\ttrace(nosuch); }", &vm()).err().unwrap();
    assert_eq!((e.tag.as_deref(), e.line, e.column), (Some("D_IDENT_UNDEF"), 2, 8));
    let bad = Config { options: vec![("nosuch".into(), None)], ..Config::default() };
    assert!(Trace::open("BEGIN", &bad).is_err());
    assert!(Trace::open("BEGIN \0", &vm()).is_err());
    let faults = Trace::open("BEGIN\n{ trace(*(int *)16); } BEGIN { exit(0); }", &vm()).unwrap();
    let all: Vec<Event> = faults.map(|e| e.unwrap()).collect();
    let f = all.iter().find_map(|e| if let Event::Fault(f) = e { Some(f) } else { None }).unwrap_or_else(|| panic!("no fault: {all:?}"));
    assert!(f.text.contains("invalid address (0x10)"));
    assert_eq!((f.code, f.what.as_str(), f.action, f.value), (1, "invalid address", 1, 16));
    assert_eq!((f.file.as_deref(), f.line, f.column), (None, Some(2), Some(9)));
    assert_eq!(f.expression.as_deref(), Some("*(int *)16"));
    assert_eq!(f.reason.as_deref(), Some("address 0x10 is not mapped"));
    assert_eq!(f.probe.as_ref().unwrap().name, "BEGIN");
}

#[test]
fn stop_from_another_thread() {
    let mut t = Trace::open("BEGIN { trace(1); } END { trace(2); }", &vm()).unwrap();
    let stopper = t.stopper();
    assert!(t.next().is_some());
    let other = std::thread::spawn(move || stopper.stop());
    let rest: Vec<Event> = (&mut t).map(|e| e.unwrap()).collect();
    other.join().unwrap();
    assert_eq!(rest.len(), 1);
    let late = t.stopper();
    drop(t);
    late.stop();
}

#[test]
fn command() {
    if std::env::var("DTRACE_TEST_KERNEL").as_deref() == Ok("no") {
        return;
    }
    let config = Config { command: vec!["sh".into(), "-c".into(), "exit 7".into()], ..Config::default() };
    let t = Trace::open("syscall::exit_group:entry /pid == $target/ { ustack(); trace(arg0); }", &config).unwrap();
    let all: Vec<Event> = t.map(|e| e.unwrap()).collect();
    assert!(all.iter().any(|e| matches!(e, Event::Record(r) if matches!(r.values().next(), Some(Value::Stack { pid, frames }) if *pid > 0 && !frames.is_empty()))));
    assert!(all.iter().any(|e| matches!(e, Event::Process { ended: Some(s), .. } if *s == 7 << 8)));
}

#[test]
fn source_lines() {
    let program = match std::env::var("DTRACE_TEST_LINES") {
        Ok(path) if std::env::var("DTRACE_TEST_KERNEL").as_deref() != Ok("no") => path, // compiled with -g
        _ => return,
    };
    let config = Config { command: vec![program], options: vec![("srclines".into(), None)], ..Config::default() };
    let t = Trace::open("syscall::getppid:entry /pid == $target/ { ustack(); }", &config).unwrap();
    let is_main = |f: &dtrace::Frame| {
        f.symbol.as_deref() == Some("main") && f.line == 4 && f.file.as_deref().map_or(false, |p| p.ends_with("lines.c"))
    };
    let all: Vec<Event> = t.map(|e| e.unwrap()).collect();
    assert!(all.iter().any(|e| matches!(e, Event::Record(r) if matches!(r.values().next(), Some(Value::Stack { frames, .. }) if frames.iter().any(is_main)))));
}
