//! Systems that do not allow a sandbox: nothing is run there, and what is missing is said.

use std::path::Path;
use std::process::Command;

use crate::support::{Test, World, run, sandbox, shell, spec, text};

/// All of them.
pub const TESTS: &[Test] = &[
    (
        "where_namespaces_are_forbidden",
        where_namespaces_are_forbidden,
    ),
    ("where_their_number_is_zero", where_their_number_is_zero),
    (
        "where_only_user_namespaces_are_missing",
        where_only_user_namespaces_are_missing,
    ),
    (
        "what_the_sandbox_hides_is_refused",
        what_the_sandbox_hides_is_refused,
    ),
];

fn this() -> String {
    let this = std::env::current_exe().expect("this executable");
    this.display().to_string()
}

/// As in many a container: the sandbox itself is such a place.
fn where_namespaces_are_forbidden(world: &World) {
    let outcome = run(&spec(Path::new(&this()), &world.directory, &["__check"]));
    let said = text(&outcome.stdout);
    assert!(
        said.starts_with("no sandbox: this system does not allow user namespaces (Operation not")
            && said.contains("--no-sandbox"),
        "{said}"
    );
}

/// Runs a script in a user namespace that may not have another one within.
fn without_more_namespaces(script: &str) -> Option<String> {
    let script = format!("echo 0 > /proc/sys/user/max_user_namespaces && {script}");
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "sh", "-c", &script])
        .output();
    let output = match output {
        Ok(output) => output,
        Err(error) => {
            println!("skipped: a nested user namespace, because of unshare: {error}");
            return None;
        }
    };
    Some(text(&output.stdout) + &text(&output.stderr))
}

fn where_their_number_is_zero(_: &World) {
    let drop = "setpriv --inh-caps=-all --bounding-set=-all";
    let Some(said) = without_more_namespaces(&format!("exec {drop} {} __check", this())) else {
        return;
    };
    assert!(
        said.starts_with("no sandbox: this system does not allow user namespaces (No space left")
            && said.contains("as root: sysctl user.max_user_namespaces=10000"),
        "{said}"
    );
}

/// Who is root in the outer namespace can make all but the program's own user namespace.
fn where_only_user_namespaces_are_missing(world: &World) {
    let Some(said) = without_more_namespaces(&format!("exec {} __check", this())) else {
        return;
    };
    assert!(
        said.starts_with("there is a sandbox") && said.contains("a user namespace"),
        "{said}"
    );
    assert_eq!(
        text(&run(&shell(&world.directory, "echo here")).stdout),
        "here\n"
    );
}

/// Nothing is run halfway where the program would not find itself.
fn what_the_sandbox_hides_is_refused(_: &World) {
    let directory = Path::new("/dev/shm");
    let refused = sandbox().run(&spec(Path::new("/bin/true"), directory, &[]));
    let said = refused.expect_err("its directory is hidden").to_string();
    assert!(said.starts_with("no sandbox for /dev/shm:"), "{said}");
}
