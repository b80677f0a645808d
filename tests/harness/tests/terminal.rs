//! The console on a terminal, which `script` provides: line editing, ^C, ^D, and the terminal as it was afterwards.

use harness::fixture::program;
use harness::machine::Machine;
use harness::project;
use std::io::{Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

/// A shell on a terminal that runs something in the kernel and then prints the exit status and the terminal's modes.
struct Session {
    child: Child,
    keyboard: ChildStdin,
    screen: ChildStdout,
    seen: String,
}

impl Session {
    fn start(name: &str) -> Session {
        Session::start_on(&Machine::default(), name)
    }

    fn start_on(machine: &Machine, name: &str) -> Session {
        let run = machine.shell_line(&program(name));
        let line = format!(
            "before=$(stty -g); {run}; echo status=$?; [ \"$before\" = \"$(stty -g)\" ] && echo unchanged"
        );
        let mut command = Command::new("script");
        command.args(["--quiet", "--return", "--command", &line, "/dev/null"]).current_dir(project::root());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("script");
        let (keyboard, screen) = child.stdin.take().zip(child.stdout.take()).expect("pipes");
        Session { child, keyboard, screen, seen: String::new() }
    }

    fn type_in(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).expect("script lives");
    }

    /// Reads the screen until `text` is on it. The runs are bounded, so this is.
    fn see(&mut self, text: &str) {
        let mut buffer = [0; 512];
        while !self.seen.contains(text) {
            let count = self.screen.read(&mut buffer).expect("a pipe");
            assert_ne!(count, 0, "{text:?} never came: {:?}", self.seen);
            self.seen.push_str(&String::from_utf8_lossy(&buffer[..count]));
        }
    }

    /// Sees the exit status and that the terminal is as it was.
    fn end(mut self, status: u8) {
        self.see(&format!("status={status}\r\n"));
        self.see("unchanged\r\n");
        self.child.wait().expect("it ends");
    }
}

#[test]
fn lines_are_edited_and_end_of_file_is_typed() {
    let mut session = Session::start("lines");
    session.see("ready\r\n");
    session.type_in("hellp\x7fo\r");
    session.see("[hello]\r\n");
    assert!(session.seen.contains("hellp"), "no echo: {:?}", session.seen);
    session.type_in("\x04");
    session.see("end\r\n");
    session.end(0);
}

#[test]
fn interrupt_ends_the_program() {
    let mut session = Session::start("forever");
    session.see("running\r\n");
    session.type_in("\x03");
    session.end(130);
}

#[test]
fn the_machine_can_be_ended_from_the_keyboard() {
    let mut session = Session::start("forever");
    session.see("running\r\n");
    session.type_in("\x01x");
    session.end(143);
}

#[test]
fn a_time_out_leaves_the_terminal_as_it_was() {
    let machine = Machine { timeout: Duration::from_secs(2), ..Machine::default() };
    Session::start_on(&machine, "forever").end(124);
}
