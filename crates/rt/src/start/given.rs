//! What a process is given before `main`: its arguments, environment and standard input.

use nearmiss_abi::channel::{ChannelKind, PIECE_WHOLE};
use nearmiss_abi::site::SiteId;
use nearmiss_abi::term::{CONCRETE, Label};

use crate::objects::ObjectKind;
use crate::runtime::Runtime;
use crate::system;
use crate::text::Text;

impl Runtime {
    /// The program's own file.
    pub(super) fn record_program(&mut self) {
        let link = c"/proc/self/exe".as_ptr().cast();
        let path = &mut self.inputs.path;
        // SAFETY: the link ends with a zero.
        if path.write(|bytes| unsafe { system::read_link(link, bytes) }) {
            self.trace.set_program(path.text());
        }
    }

    /// The arguments are objects, and inputs if they are to be.
    ///
    /// # Safety
    /// `argv` has `argc` texts, and a null behind them.
    pub(crate) unsafe fn take_arguments(&mut self, argc: i32, argv: *const *mut u8) {
        // SAFETY: as promised by the caller.
        unsafe {
            self.know_texts(argv.cast());
            self.label_arguments(argc, argv);
        }
    }

    /// The texts of the command line or the environment are objects, and so is their array.
    ///
    /// # Safety
    /// `texts` is an array of texts that ends with a null.
    pub(super) unsafe fn know_texts(&mut self, texts: *const *const u8) {
        let mut entry = texts;
        // SAFETY: as promised by the caller.
        unsafe {
            while !entry.is_null() && !(*entry).is_null() {
                let size = system::length(*entry) as u64 + 1;
                self.add_object(*entry as u64, size, CONCRETE, ObjectKind::Argument);
                entry = entry.add(1);
            }
            if !entry.is_null() {
                let size = entry.add(1) as u64 - texts as u64;
                self.add_object(texts as u64, size, CONCRETE, ObjectKind::Argument);
            }
        }
    }

    /// The arguments are inputs, if they are to be.
    ///
    /// # Safety
    /// `argv` has `argc` texts.
    unsafe fn label_arguments(&mut self, argc: i32, argv: *const *mut u8) {
        if !self.options.has_channel(ChannelKind::Argument) {
            return;
        }
        for index in 1..argc.max(1) as usize {
            // SAFETY: as promised by the caller.
            unsafe {
                let argument = *argv.add(index);
                if argument.is_null() {
                    return;
                }
                let text = system::text(argument);
                let (index, name) = (index as u32, argument_name(index as u32));
                let channel = self.add_channel(ChannelKind::Argument, index, name.text(), text);
                if let Some(channel) = channel {
                    self.label_string(channel, (argument as u64, text.len() as u64));
                }
            }
        }
    }

    /// So are the variables of the environment.
    ///
    /// # Safety
    /// `envp` is an array of texts that ends with a null.
    pub(super) unsafe fn label_environment(&mut self, envp: *const *const u8) {
        if !self.options.has_channel(ChannelKind::Environment) {
            return;
        }
        let mut entry = envp;
        // SAFETY: as promised by the caller.
        unsafe {
            while !entry.is_null() && !(*entry).is_null() {
                self.label_variable(*entry);
                entry = entry.add(1);
            }
        }
    }

    /// `NAME=value` of the environment: the value is input.
    ///
    /// # Safety
    /// `entry` ends with a zero.
    unsafe fn label_variable(&mut self, entry: *const u8) {
        // SAFETY: as promised by the caller.
        let text = unsafe { system::text(entry) };
        let Some(equals) = text.iter().position(|&byte| byte == b'=') else {
            return;
        };
        let (name, value) = (&text[..equals], &text[equals + 1..]);
        if is_of_the_system(name) {
            return;
        }
        let channel = self.add_channel(ChannelKind::Environment, 0, name, value);
        if let Some(channel) = channel {
            let place = (value.as_ptr() as u64, value.len() as u64);
            self.environment_is_symbolic = true;
            // SAFETY: as promised by the caller.
            unsafe { self.label_string(channel, place) };
        }
    }

    /// A string is all of a channel: its bytes, and its end.
    ///
    /// # Safety
    /// The bytes are readable, and a zero follows.
    unsafe fn label_string(&mut self, channel: u32, (address, size): (u64, u64)) {
        // SAFETY: as promised by the caller.
        unsafe { self.label_input(channel, 0, (address, size), SiteId::NONE) };
        // The rest of what is longer than the limit on input is concrete, and its end, too.
        if size <= self.options.input
            && let Some(length) = self.add_length(channel, 0, size, PIECE_WHOLE)
        {
            self.end_string(address + size, length);
            self.size_string(address + size, length);
        }
    }

    /// The object of a string whose zero is at `end` is as large as the string is long.
    fn size_string(&mut self, end: u64, length: Label) {
        let Some(object) = self.objects.find_live(end) else {
            return;
        };
        let recorded = self.value(length);
        let wide = self.zero_extend(length, 64);
        let size = self.plus(wide, u128::from(object.size) - recorded);
        self.add_object(object.start, object.size, size, ObjectKind::Argument);
    }

    /// Standard input is an input, if it is to be one.
    pub(crate) fn open_stdin(&mut self) {
        if !self.options.has_channel(ChannelKind::Stdin) {
            return;
        }
        if let Some(channel) = self.add_channel(ChannelKind::Stdin, 0, b"stdin", b"") {
            let start = system::position(0).unwrap_or(0);
            self.inputs.channel(channel).start = start;
            self.inputs.set_descriptor(0, Some(channel));
            if let Some(size) = self.stdin_size(start) {
                self.add_length(channel, 0, size, PIECE_WHOLE);
            }
        }
    }

    /// Bytes of standard input: the engine knows, or the file that it is.
    fn stdin_size(&self, start: u64) -> Option<u64> {
        let of_file = || {
            let status = system::status(0).ok()?;
            let is_file = status.is_regular() && status.size >= start;
            is_file.then(|| status.size - start)
        };
        self.options.stdin.or_else(of_file)
    }
}

/// Variables that steer the loader or the recording itself are no inputs of the program.
fn is_of_the_system(name: &[u8]) -> bool {
    name.starts_with(b"LD_") || name.starts_with(b"NEARMISS_")
}

/// `argv[index]`.
fn argument_name(index: u32) -> Text<24> {
    let mut name = Text::EMPTY;
    let _fits = name.push(b"argv[") && name.push_number(index) && name.push(b"]");
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_arguments() {
        assert_eq!(argument_name(1).text(), b"argv[1]");
        assert_eq!(argument_name(120).text(), b"argv[120]");
    }
}
