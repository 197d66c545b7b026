//! calls COMMAND: the system calls of a command, and how often it makes them.
use dtrace::{Config, Event, Trace, Value};

fn main() -> Result<(), dtrace::Error> {
    let config = Config { command: std::env::args().skip(1).collect(), ..Config::default() };
    let mut trace = Trace::open("syscall:::entry /pid == $target/ { @calls[probefunc] = count(); }", &config)?;
    for event in &mut trace {
        if let Event::Drop { text, .. } = event? {
            eprintln!("calls: {}", text);
        }
    }
    for row in trace.aggregations() {
        if let Some(Value::Str(name)) = row.keys.first() {
            println!("{:<20} {}", name, row.value);
        }
    }
    Ok(())
}
