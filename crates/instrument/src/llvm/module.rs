//! A module: reading, declaring, passes, writing.

use std::ffi::{CStr, c_char};
use std::path::Path;

use llvm_sys::LLVMLinkage;
use llvm_sys::bit_reader::LLVMParseBitcodeInContext2;
use llvm_sys::bit_writer::LLVMWriteBitcodeToFile;
use llvm_sys::core::*;
use llvm_sys::debuginfo::LLVMStripModuleDebugInfo;
use llvm_sys::error::{LLVMDisposeErrorMessage, LLVMGetErrorMessage};
use llvm_sys::prelude::*;
use llvm_sys::target::*;
use llvm_sys::transforms::pass_builder::*;

use super::value::Value;
use super::{Type, c_string};

/// How a declared symbol is bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Linkage {
    /// Inside the same program or shared library.
    Hidden,
    /// A thread-local variable in the initial-exec model.
    ThreadLocal,
}

/// A module and its context, which live until the process ends.
#[derive(Debug)]
pub struct Module {
    module: LLVMModuleRef,
    context: LLVMContextRef,
}

impl Module {
    /// Reads a bitcode file.
    pub fn read(path: &Path) -> Result<Module, String> {
        let mut message: *mut c_char = std::ptr::null_mut();
        unsafe {
            let context = LLVMContextCreate();
            let mut buffer = std::ptr::null_mut();
            let name = c_string(&path.to_string_lossy());
            if LLVMCreateMemoryBufferWithContentsOfFile(name.as_ptr(), &mut buffer, &mut message)
                != 0
            {
                return Err(CStr::from_ptr(message).to_string_lossy().into_owned());
            }
            let mut module = std::ptr::null_mut();
            if LLVMParseBitcodeInContext2(context, buffer, &mut module) != 0 {
                return Err("not a bitcode file".into());
            }
            // Moving instructions between blocks is simplest with debug intrinsics.
            LLVMSetIsNewDbgInfoFormat(module, 0);
            Ok(Module { module, context })
        }
    }

    pub(super) fn context(&self) -> LLVMContextRef {
        self.context
    }

    /// The functions, declared and defined.
    pub fn functions(&self) -> Vec<Value> {
        let mut functions = Vec::new();
        let mut next = unsafe { LLVMGetFirstFunction(self.module) };
        while !next.is_null() {
            functions.push(Value(next));
            next = unsafe { LLVMGetNextFunction(next) };
        }
        functions
    }

    /// The functions that resolve indirect functions: they run before relocation is done.
    pub fn resolvers(&self) -> Vec<Value> {
        let mut resolvers = Vec::new();
        let mut next = unsafe { LLVMGetFirstGlobalIFunc(self.module) };
        while !next.is_null() {
            resolvers.push(Value(unsafe { LLVMGetGlobalIFuncResolver(next) }));
            next = unsafe { LLVMGetNextGlobalIFunc(next) };
        }
        resolvers
    }

    /// The function with this name, if the module names it.
    pub fn function(&self, name: &str) -> Option<Value> {
        let function = unsafe { LLVMGetNamedFunction(self.module, c_string(name).as_ptr()) };
        (!function.is_null()).then_some(Value(function))
    }

    /// Declares a function.
    pub fn declare_function(
        &self,
        name: &str,
        result: Type,
        parameters: &[Type],
        variadic: bool,
    ) -> Value {
        let mut parameters: Vec<_> = parameters.iter().map(|ty| ty.0).collect();
        let count = parameters.len() as u32;
        unsafe {
            let ty = LLVMFunctionType(result.0, parameters.as_mut_ptr(), count, variadic.into());
            Value(LLVMAddFunction(self.module, c_string(name).as_ptr(), ty))
        }
    }

    /// Declares a function of a known type.
    pub fn declare_as(&self, name: &str, like: Type) -> Value {
        self.function(name).unwrap_or_else(|| {
            Value(unsafe { LLVMAddFunction(self.module, c_string(name).as_ptr(), like.0) })
        })
    }

    /// The type of functions with this result and these parameters.
    pub fn function_type(&self, result: Type, parameters: &[Type], variadic: bool) -> Type {
        let mut parameters: Vec<_> = parameters.iter().map(|ty| ty.0).collect();
        let count = parameters.len() as u32;
        Type(unsafe { LLVMFunctionType(result.0, parameters.as_mut_ptr(), count, variadic.into()) })
    }

    /// A function that is inlined wherever it is called; its body is still to be written.
    pub fn define_inline(&self, name: &str, ty: Type) -> Value {
        let function =
            Value(unsafe { LLVMAddFunction(self.module, c_string(name).as_ptr(), ty.0) });
        unsafe { LLVMSetLinkage(function.0, LLVMLinkage::LLVMInternalLinkage) };
        self.add_attribute(function, "alwaysinline");
        function
    }

    /// Allows the program to be linked without a function that is only declared.
    pub fn set_optional(&self, function: Value) {
        unsafe { LLVMSetLinkage(function.0, LLVMLinkage::LLVMExternalWeakLinkage) };
    }

    /// Whether the module names anything but a function so: a variable, an alias.
    pub fn has_global(&self, name: &str) -> bool {
        let (text, size) = (name.as_ptr().cast(), name.len());
        unsafe {
            !LLVMGetNamedGlobalAlias(self.module, text, size).is_null()
                || !LLVMGetNamedGlobalIFunc(self.module, text, size).is_null()
                || !LLVMGetNamedGlobal(self.module, c_string(name).as_ptr()).is_null()
        }
    }

    /// The type of the letters `f`, `d` and `x`: see `abi::model`.
    pub fn float_type(&self, letter: char) -> Type {
        Type(unsafe {
            match letter {
                'f' => LLVMFloatTypeInContext(self.context),
                'd' => LLVMDoubleTypeInContext(self.context),
                _ => LLVMX86FP80TypeInContext(self.context),
            }
        })
    }

    /// Zero.
    pub fn zero(&self, ty: Type) -> Value {
        Value(unsafe { LLVMConstNull(ty.0) })
    }

    /// A private constant.
    pub fn add_constant(&self, content: Value) -> Value {
        unsafe {
            // Not the name of a hook: that would be declared under another one then.
            let name = c"__nm_own_constant".as_ptr();
            let constant = LLVMAddGlobal(self.module, content.ty().0, name);
            LLVMSetInitializer(constant, content.0);
            LLVMSetLinkage(constant, LLVMLinkage::LLVMPrivateLinkage);
            LLVMSetGlobalConstant(constant, 1);
            Value(constant)
        }
    }

    /// Gives a function the `preserve_most` convention. It is bound when the program is loaded: the
    /// dynamic linker's lazy binding, on the way to the first call, keeps only the registers of
    /// the C convention.
    pub fn set_preserve_most(&self, function: Value) {
        unsafe { LLVMSetFunctionCallConv(function.0, 14) };
        self.add_attribute(function, "nonlazybind");
    }

    /// Makes a function one of this unit alone that is hardly ever called, for the processor of
    /// `host`, and that keeps the registers of its caller. Optimising it is not worth the time.
    pub fn make_cold(&self, function: Value, host: Value) {
        unsafe {
            LLVMSetLinkage(function.0, LLVMLinkage::LLVMPrivateLinkage);
            LLVMSetFunctionCallConv(function.0, 14);
            for name in ["target-cpu", "target-features", "tune-cpu"] {
                let (text, size) = (name.as_ptr().cast(), name.len() as u32);
                let attribute = LLVMGetStringAttributeAtIndex(host.0, u32::MAX, text, size);
                if !attribute.is_null() {
                    LLVMAddAttributeAtIndex(function.0, u32::MAX, attribute);
                }
            }
        }
        for name in ["cold", "noinline", "nounwind", "uwtable", "optnone"] {
            self.add_attribute(function, name);
        }
    }

    /// Gives a function an attribute without a value.
    fn add_attribute(&self, function: Value, name: &str) {
        unsafe {
            let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
            let attribute = LLVMCreateEnumAttribute(self.context, kind, 0);
            LLVMAddAttributeAtIndex(function.0, u32::MAX, attribute);
        }
    }

    /// Declares a variable.
    pub fn declare_variable(&self, name: &str, ty: Type, linkage: Linkage) -> Value {
        unsafe {
            // The models of libc name the summary themselves.
            let known = LLVMGetNamedGlobal(self.module, c_string(name).as_ptr());
            if !known.is_null() {
                return Value(known);
            }
            let variable = LLVMAddGlobal(self.module, ty.0, c_string(name).as_ptr());
            LLVMSetLinkage(variable, LLVMLinkage::LLVMExternalLinkage);
            match linkage {
                Linkage::Hidden => {
                    LLVMSetVisibility(variable, llvm_sys::LLVMVisibility::LLVMHiddenVisibility)
                }
                Linkage::ThreadLocal => {
                    LLVMSetThreadLocalMode(
                        variable,
                        llvm_sys::LLVMThreadLocalMode::LLVMInitialExecTLSModel,
                    );
                }
            }
            Value(variable)
        }
    }

    /// The global variables, declared and defined.
    pub fn variables(&self) -> Vec<Value> {
        let mut variables = Vec::new();
        let mut next = unsafe { LLVMGetFirstGlobal(self.module) };
        while !next.is_null() {
            variables.push(Value(next));
            next = unsafe { LLVMGetNextGlobal(next) };
        }
        variables
    }

    /// Puts a variable with other content in the place of one: of the same name, bound and laid out
    /// alike.
    pub fn replace_variable(&self, old: Value, content: Value) -> Value {
        unsafe {
            let new = LLVMAddGlobal(self.module, content.ty().0, c"".as_ptr());
            LLVMSetInitializer(new, content.0);
            LLVMSetLinkage(new, LLVMGetLinkage(old.0));
            LLVMSetVisibility(new, LLVMGetVisibility(old.0));
            LLVMSetUnnamedAddress(new, LLVMGetUnnamedAddress(old.0));
            LLVMSetGlobalConstant(new, LLVMIsGlobalConstant(old.0));
            LLVMSetAlignment(new, LLVMGetAlignment(old.0));
            let name = old.name();
            old.replace_by(Value(new));
            LLVMDeleteGlobal(old.0);
            LLVMSetValueName2(new, name.as_ptr().cast(), name.len());
            Value(new)
        }
    }

    /// Adds a private variable to `section` that nothing refers to, and that passes keep.
    pub fn add_table(&self, section: &str, content: Value) {
        const KEPT: &CStr = c"llvm.used";
        unsafe {
            let table = LLVMAddGlobal(self.module, content.ty().0, c"nearmiss.table".as_ptr());
            LLVMSetInitializer(table, content.0);
            LLVMSetLinkage(table, LLVMLinkage::LLVMPrivateLinkage);
            LLVMSetSection(table, c_string(section).as_ptr());
            LLVMSetAlignment(table, 8);
            let mut kept = vec![table];
            let old = LLVMGetNamedGlobal(self.module, KEPT.as_ptr());
            if !old.is_null() {
                let list = Value(LLVMGetInitializer(old));
                kept.extend(list.operands().map(|value| value.0));
                LLVMDeleteGlobal(old);
            }
            let pointer = LLVMPointerTypeInContext(self.context, 0);
            let list = LLVMConstArray2(pointer, kept.as_mut_ptr(), kept.len() as u64);
            let variable = LLVMAddGlobal(self.module, LLVMTypeOf(list), KEPT.as_ptr());
            LLVMSetInitializer(variable, list);
            LLVMSetLinkage(variable, LLVMLinkage::LLVMAppendingLinkage);
            LLVMSetSection(variable, c"llvm.metadata".as_ptr());
        }
    }

    /// The type `void`.
    pub fn void_type(&self) -> Type {
        Type(unsafe { LLVMVoidTypeInContext(self.context) })
    }

    /// Bytes that a value of this type takes in memory, without padding behind it.
    pub fn store_size(&self, ty: Type) -> u64 {
        unsafe { LLVMStoreSizeOfType(self.layout(), ty.0) }
    }

    /// Bytes from one element of an array of this type to the next.
    pub fn element_size(&self, ty: Type) -> u64 {
        unsafe { LLVMABISizeOfType(self.layout(), ty.0) }
    }

    /// Byte offset of a field.
    pub fn field_offset(&self, ty: Type, field: u32) -> u64 {
        unsafe { LLVMOffsetOfElement(self.layout(), ty.0, field) }
    }

    fn layout(&self) -> LLVMTargetDataRef {
        unsafe { LLVMGetModuleDataLayout(self.module) }
    }

    /// The assembly of the module beside its functions.
    pub fn assembly(&self) -> String {
        let mut size = 0;
        let text = unsafe { LLVMGetModuleInlineAsm(self.module, &mut size) };
        if text.is_null() {
            return String::new();
        }
        let bytes = unsafe { std::slice::from_raw_parts(text.cast::<u8>(), size) };
        String::from_utf8_lossy(bytes).into_owned()
    }

    /// Adds lines of assembly to the module.
    pub fn append_assembly(&self, text: &str) {
        unsafe { LLVMAppendModuleInlineAsm(self.module, text.as_ptr().cast(), text.len()) };
    }

    /// Keeps a reference to a symbol from being dropped, so that a link without it fails.
    pub fn require_symbol(&self, name: &str) {
        self.append_assembly(&format!(
            ".pushsection .data.rel.ro.nearmiss,\"aw\",@progbits\n.quad {name}\n.popsection\n"
        ));
    }

    /// Adds the attributes that make AddressSanitizer and MemorySanitizer look at a function, each at its own.
    pub fn mark_for_sanitizers(&self, function: Value) {
        self.add_attribute(function, "sanitize_address");
        self.add_attribute(function, "sanitize_memory");
    }

    /// Whether passes may replace calls of libc functions in `function` by what they know of them.
    pub fn set_library_knowledge(&self, function: Value, allowed: bool) {
        self.set_text_attribute(function, "no-builtins", (!allowed).then_some(""));
    }

    /// Whether the last call of `function` may become a jump, which hides its frame from whoever
    /// reads the stack.
    pub fn set_tail_calls(&self, function: Value, allowed: bool) {
        self.set_text_attribute(function, "disable-tail-calls", (!allowed).then_some("true"));
    }

    /// Keeps a function from being inlined.
    pub fn forbid_inlining(&self, function: Value) {
        self.add_attribute(function, "noinline");
    }

    /// Keeps passes that need not run from `function`, which is not inlined either.
    pub fn forbid_passes(&self, function: Value) {
        self.add_attribute(function, "noinline");
        self.add_attribute(function, "optnone");
    }

    /// Gives `function` the attribute, or takes it away.
    pub fn set_text_attribute(&self, function: Value, name: &str, value: Option<&str>) {
        let (text, size) = (name.as_ptr().cast(), name.len() as u32);
        unsafe {
            match value {
                None => LLVMRemoveStringAttributeAtIndex(function.0, u32::MAX, text, size),
                Some(value) => {
                    let (of, of_size) = (value.as_ptr().cast(), value.len() as u32);
                    let attribute =
                        LLVMCreateStringAttribute(self.context, text, size, of, of_size);
                    LLVMAddAttributeAtIndex(function.0, u32::MAX, attribute);
                }
            }
        }
    }

    /// Runs a pipeline of passes.
    pub fn run_passes(&self, pipeline: &str) -> Result<(), String> {
        unsafe {
            let options = LLVMCreatePassBuilderOptions();
            let error = LLVMRunPasses(
                self.module,
                c_string(pipeline).as_ptr(),
                std::ptr::null_mut(),
                options,
            );
            LLVMDisposePassBuilderOptions(options);
            if error.is_null() {
                return Ok(());
            }
            let message = LLVMGetErrorMessage(error);
            let text = CStr::from_ptr(message).to_string_lossy().into_owned();
            LLVMDisposeErrorMessage(message);
            Err(text)
        }
    }

    /// What is wrong with the module, if anything.
    pub fn verify(&self) -> Result<(), String> {
        use llvm_sys::analysis::{LLVMVerifierFailureAction, LLVMVerifyModule};
        let mut message: *mut c_char = std::ptr::null_mut();
        unsafe {
            let action = LLVMVerifierFailureAction::LLVMReturnStatusAction;
            if LLVMVerifyModule(self.module, action, &mut message) == 0 {
                return Ok(());
            }
            Err(CStr::from_ptr(message).to_string_lossy().into_owned())
        }
    }

    /// Removes all debug information.
    pub fn strip_debug(&self) {
        unsafe { LLVMStripModuleDebugInfo(self.module) };
    }

    /// The bitcode.
    pub fn bitcode(&self) -> Vec<u8> {
        unsafe {
            let buffer = llvm_sys::bit_writer::LLVMWriteBitcodeToMemoryBuffer(self.module);
            let start = LLVMGetBufferStart(buffer).cast::<u8>();
            let bytes = std::slice::from_raw_parts(start, LLVMGetBufferSize(buffer)).to_vec();
            LLVMDisposeMemoryBuffer(buffer);
            bytes
        }
    }

    /// Writes the bitcode to a file.
    pub fn write(&self, path: &Path) -> Result<(), String> {
        let name = c_string(&path.to_string_lossy());
        match unsafe { LLVMWriteBitcodeToFile(self.module, name.as_ptr()) } {
            0 => Ok(()),
            _ => Err(format!("cannot write {}", path.display())),
        }
    }
}
