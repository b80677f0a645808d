//! Other programs in processes of their own: `std::process::Command`, and execve(2) beneath it. The other program is
//! this one, told by its environment what to do.

use std::ffi::CString;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use guest::{Child, Ended, address, call, end, first_registers};
use syscalls::number;
use userlib::Errno;

fn own_path() -> String {
    std::env::args().next().expect("argv[0]")
}

const TASK: &str = "GUEST_TASK";

/// A command that makes this program do `task`, and nothing else.
fn command(task: &str) -> Command {
    let mut command = Command::new(own_path());
    command.env_clear().env(TASK, task);
    command
}

/// Before `main`, in the first thread: what the program does when the tests run it.
extern "C" fn do_task() {
    let Ok(task) = std::env::var(TASK) else { return };
    match task.as_str() {
        "exit" => end(42),
        "die" => std::process::abort(),
        "copy" => copy(),
        "registers" => {
            let first = first_registers();
            let clear = first.general == [0; 15] && first.vectors == [0; 16];
            end(i32::from(!(clear && (first.mxcsr, first.control) == (0x1f80, 0x037f))))
        }
        "descriptors" => {
            // SAFETY: looks only.
            let is_open = |fd: u64| unsafe { call(number::fcntl, &[fd, libc::F_GETFD as u64]) }.is_ok();
            let open: Vec<String> = (0..256).filter(|&fd| is_open(fd)).map(|fd| fd.to_string()).collect();
            say(&open.join(" "))
        }
        "ids" => {
            use userlib::raw;
            say(&format!("{} {} {}", raw::getpid(), raw::gettid(), raw::getppid()))
        }
        "dispositions" => say(&format!("{} {}", disposition(libc::SIGUSR1), disposition(libc::SIGUSR2))),
        "environment" => {
            let variables = std::env::vars().map(|(name, value)| format!("{name}={value}"));
            let mut all: Vec<String> = variables.collect();
            all.sort();
            say(&all.join(","))
        }
        _ => end(99),
    }
}

#[used]
#[unsafe(link_section = ".init_array")]
static DO_TASK: extern "C" fn() = do_task;

fn say(text: &str) -> ! {
    end(i32::from(io::stdout().write_all(text.as_bytes()).and_then(|()| io::stdout().flush()).is_err()))
}

fn copy() -> ! {
    let mut text = String::new();
    io::stdin().read_to_string(&mut text).expect("read");
    eprint!("done");
    say(&text.to_uppercase())
}

fn disposition(signal: i32) -> usize {
    // SAFETY: all zeros is a value of this plain structure.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: the place is this function's own.
    unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut action) };
    action.sa_sigaction
}

/// What a task says.
fn answer(command: &mut Command) -> String {
    let output = command.output().expect("it runs");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn a_status_comes_back() {
    let _alone = guest::alone();
    let quiet =
        |task: &str| command(task).stdout(Stdio::null()).stderr(Stdio::null()).status().expect("runs");
    assert_eq!(quiet("exit").code(), Some(42));
    assert_eq!(quiet("die").signal(), Some(libc::SIGABRT));
    assert_eq!(quiet("registers").code(), Some(0), "a new program's registers are clear");
}

#[test]
fn a_program_that_is_absent_is_said_to_be() {
    let _alone = guest::alone();
    let error = Command::new("/absent").status().expect_err("there is no such program");
    assert_eq!(error.kind(), ErrorKind::NotFound);
    for path in ["/", "/dev/null"] {
        let error = Command::new(path).status().expect_err("that is no program");
        assert_eq!(error.kind(), ErrorKind::PermissionDenied, "{path}");
    }
    let below = format!("{}/x", own_path());
    assert_eq!(Command::new(below).status().expect_err("a file").kind(), ErrorKind::NotADirectory);
}

#[test]
fn input_and_output_go_through_pipes() {
    let _alone = guest::alone();
    let mut child = command("copy");
    child.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = child.spawn().expect("it runs");
    let mut input = child.stdin.take().expect("piped");
    // More than a pipe holds, both ways at once.
    let text = "twelve bytes".repeat(20_000);
    let sent = text.clone();
    let writer = thread::spawn(move || input.write_all(sent.as_bytes()));
    let output = child.wait_with_output().expect("it ends");
    writer.join().expect("the thread ends well").expect("write");
    assert!(output.status.success());
    let said = String::from_utf8(output.stdout).expect("text");
    assert!(said == text.to_uppercase(), "{} bytes", said.len());
    assert_eq!(output.stderr, b"done");
}

#[test]
fn arguments_and_environment_arrive() {
    let _alone = guest::alone();
    let mut with_more = command("environment");
    with_more.env("EMPTY", "").env("SPACE", "a b");
    assert_eq!(answer(&mut with_more), "EMPTY=,GUEST_TASK=environment,SPACE=a b");
}

#[test]
fn descriptors_are_closed_where_they_are_to_be() {
    let _alone = guest::alone();
    let _closed = io::pipe().expect("pipe");
    let file = std::fs::File::open(own_path()).expect("open");
    // Rust opens everything to be closed on exec.
    let before = answer(&mut command("descriptors"));
    assert!(before.starts_with("0 1 2"), "{before}");
    drop(file);
    // SAFETY: the descriptor is this test's own.
    let kept = unsafe { libc::fcntl(0, libc::F_DUPFD, 252) };
    assert_eq!(answer(&mut command("descriptors")), format!("{before} {kept}"));
    // SAFETY: as above.
    unsafe { libc::close(kept) };
    assert_eq!(answer(&mut command("descriptors")), before);
}

#[test]
fn ids_are_kept_over_exec() {
    let _alone = guest::alone();
    let mut ids = command("ids");
    ids.stdout(Stdio::piped());
    let child = ids.spawn().expect("it runs");
    let pid = child.id();
    let output = child.wait_with_output().expect("it ends");
    let text = String::from_utf8(output.stdout).expect("text");
    assert_eq!(text, format!("{pid} {pid} {}", std::process::id()));
}

/// Forks, changes something in the child, and there runs `task` by exec.
fn after(change: impl FnOnce(), task: &str) -> String {
    let (mut reader, writer) = io::pipe().expect("pipe");
    let child = Child::new(|| {
        change();
        let error = command(task).stdout(writer.try_clone().expect("dup")).exec();
        panic!("exec: {error}");
    });
    drop(writer);
    let mut text = String::new();
    reader.read_to_string(&mut text).expect("read");
    assert_eq!(child.wait(), Ended::Exit(0));
    text
}

#[test]
fn handlers_go_and_ignored_signals_stay() {
    let _alone = guest::alone();
    extern "C" fn handler(_signal: i32) {}
    let change = || {
        // SAFETY: the child's own dispositions; the handler does nothing.
        unsafe {
            libc::signal(libc::SIGUSR1, handler as *const () as libc::sighandler_t);
            libc::signal(libc::SIGUSR2, libc::SIG_IGN);
        }
    };
    assert_eq!(after(change, "dispositions"), format!("{} {}", libc::SIG_DFL, libc::SIG_IGN));
}

#[test]
fn exec_ends_the_other_threads_whichever_calls_it() {
    let _alone = guest::alone();
    for from_first in [true, false] {
        let change = move || {
            for number in 0..4 {
                thread::spawn(move || match number % 2 {
                    0 => loop {
                        std::hint::spin_loop();
                    },
                    _ => thread::sleep(Duration::from_secs(1000)),
                });
            }
            thread::sleep(Duration::from_millis(3));
        };
        let pid_and_tid = match from_first {
            true => after(change, "ids"),
            false => after_in_a_thread(change),
        };
        let ids: Vec<&str> = pid_and_tid.split(' ').collect();
        assert_eq!(ids.len(), 3, "{pid_and_tid}");
        assert_eq!(ids[0], ids[1], "the LWP that is left is the first");
        assert_eq!(ids[2], std::process::id().to_string());
    }
}

/// As `after`, but a thread that is not the first one runs the program.
fn after_in_a_thread(change: impl FnOnce()) -> String {
    let (mut reader, writer) = io::pipe().expect("pipe");
    let child = Child::new(|| {
        change();
        let output = writer.try_clone().expect("dup");
        let error = thread::spawn(|| command("ids").stdout(output).exec()).join();
        panic!("exec: {error:?}");
    });
    drop(writer);
    let mut text = String::new();
    reader.read_to_string(&mut text).expect("read");
    assert_eq!(child.wait(), Ended::Exit(0));
    text
}

fn execve(path: u64, arguments: u64, environment: u64) -> Result<u64, Errno> {
    // SAFETY: refused, or this process would be gone.
    unsafe { call(number::execve, &[path, arguments, environment]) }
}

#[test]
fn what_cannot_be_run_changes_nothing() {
    let _alone = guest::alone();
    let path = CString::new(own_path()).expect("no zero inside");
    let path = address(path.as_ptr());
    let none = [0_u64];
    let none = address(&none);
    for bad in [16, 0x7fff_ffff_f000, 0xffff_ffff_8020_0000] {
        assert_eq!(execve(bad, none, none), Err(Errno::EFAULT));
        assert_eq!(execve(path, bad, none), Err(Errno::EFAULT));
        assert_eq!(execve(path, none, bad), Err(Errno::EFAULT));
        assert_eq!(execve(path, address(&[bad, 0]), none), Err(Errno::EFAULT));
    }
    assert_eq!(execve(address(c"".as_ptr()), none, none), Err(Errno::ENOENT));
    assert_eq!(execve(address(c"/absent".as_ptr()), none, none), Err(Errno::ENOENT));
    assert_eq!(execve(address(c"/".as_ptr()), none, none), Err(Errno::EACCES));
    let long = CString::new("x".repeat(300_000)).expect("no zero inside");
    let arguments = [address(long.as_ptr()), 0];
    assert_eq!(execve(path, address(&arguments), none), Err(Errno::E2BIG));
    let short = c"many";
    let mut many = vec![address(short.as_ptr()); 200_000];
    many.push(0);
    assert_eq!(execve(path, address(many.as_ptr()), none), Err(Errno::E2BIG));
    // Everything is as it was.
    assert_eq!(thread::spawn(|| 5).join().expect("a thread"), 5);
    assert!(answer(&mut command("descriptors")).starts_with("0 1 2"));
}

#[test]
fn a_vfork_parent_goes_on_when_the_child_runs_another_program() {
    let _alone = guest::alone();
    for _ in 0..20 {
        let status = command("exit").stdout(Stdio::null()).status().expect("it runs");
        assert_eq!(status.code(), Some(42));
    }
}
