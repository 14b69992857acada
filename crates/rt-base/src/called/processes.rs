//! Functions that execute another program, which may read any variable, and those that end the
//! process at once.

/// See [`crate::called`].
#[macro_export]
macro_rules! executing_functions {
    ($take:ident) => {
        $take! {
            fn execve(path: *const u8, arguments: *const *mut u8, environment: *const *mut u8) -> i32 { path }
            fn execv(path: *const u8, arguments: *const *mut u8) -> i32 { path }
            fn execvp(name: *const u8, arguments: *const *mut u8) -> i32 {}
            fn execvpe(name: *const u8, arguments: *const *mut u8, environment: *const *mut u8) -> i32 {}
            fn fexecve(fd: i32, arguments: *const *mut u8, environment: *const *mut u8) -> i32 {}
        }
    };
}

/// See [`crate::called`].
#[macro_export]
macro_rules! starting_functions {
    ($take:ident) => {
        $take! {
            fn popen(command: *const u8, mode: *const u8) -> *mut File {}
            fn system(command: *const u8) -> i32 {}
            fn posix_spawn(child: *mut u8, path: *const u8, actions: *mut u8, attributes: *mut u8, arguments: *mut u8, environment: *mut u8) -> i32 { path }
            fn posix_spawnp(child: *mut u8, path: *const u8, actions: *mut u8, attributes: *mut u8, arguments: *mut u8, environment: *mut u8) -> i32 {}
        }
    };
}

/// See [`crate::called`].
#[macro_export]
macro_rules! define_executing {
    ($(fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty { $($path:ident)? })*) => { $(
        #[inline(always)]
        pub unsafe fn $name($($argument: $type),*) -> $result {
            $($crate::capture::uses($crate::capture::Use::Status, $crate::files::AT_FDCWD, $path);)?
            $crate::capture::executes();
            // SAFETY: as promised by the caller.
            unsafe { real::$name($($argument),*) }
        }
    )* };
}

/// See [`crate::called`].
#[macro_export]
macro_rules! ending_functions {
    ($take:ident) => {
        $take! {
            fn _exit(status: i32) -> () { status }
            fn _Exit(status: i32) -> () { status }
            fn quick_exit(status: i32) -> () { status }
        }
    };
}

/// See [`crate::called`].
#[macro_export]
macro_rules! define_ending {
    ($(fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty { $status:ident })*) => { $(
        #[inline(always)]
        pub unsafe fn $name($($argument: $type),*) {
            $crate::capture::ended($status);
            // SAFETY: as promised by the caller.
            unsafe { real::$name($($argument),*) }
        }
    )* };
}
