//! Values, instructions and basic blocks.

use std::ffi::CStr;

use llvm_sys::core::*;
use llvm_sys::debuginfo::{
    LLVMDIFileGetFilename, LLVMDILocationGetColumn, LLVMDILocationGetInlinedAt,
    LLVMDILocationGetLine, LLVMDILocationGetScope, LLVMDIScopeGetFile, LLVMInstructionGetDebugLoc,
};
use llvm_sys::prelude::*;

use super::{Type, c_string};

pub use llvm_sys::{LLVMIntPredicate as Predicate, LLVMOpcode as Opcode};

/// A value: constant, argument, global, function or instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Value(pub(super) LLVMValueRef);

/// A basic block.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Block(pub(super) LLVMBasicBlockRef);

fn some(value: LLVMValueRef) -> Option<Value> {
    (!value.is_null()).then_some(Value(value))
}

fn some_block(block: LLVMBasicBlockRef) -> Option<Block> {
    (!block.is_null()).then_some(Block(block))
}

impl Value {
    /// Its type.
    pub fn ty(self) -> Type {
        Type(unsafe { LLVMTypeOf(self.0) })
    }

    /// Its name; "" if it has none.
    pub fn name(self) -> String {
        let mut size = 0;
        let text = unsafe { LLVMGetValueName2(self.0, &mut size) };
        let bytes = unsafe { std::slice::from_raw_parts(text.cast::<u8>(), size) };
        String::from_utf8_lossy(bytes).into_owned()
    }

    /// Whether it is an instruction.
    pub fn is_instruction(self) -> bool {
        unsafe { !LLVMIsAInstruction(self.0).is_null() }
    }

    /// Whether it is an argument of a function.
    pub fn is_argument(self) -> bool {
        unsafe { !LLVMIsAArgument(self.0).is_null() }
    }

    /// Whether it is a function (not one behind a cast).
    pub fn is_function(self) -> bool {
        unsafe { !LLVMIsAFunction(self.0).is_null() }
    }

    /// Whether it is a variable on the stack.
    pub fn is_alloca(self) -> bool {
        unsafe { !LLVMIsAAllocaInst(self.0).is_null() }
    }

    /// Whether it is a global variable.
    pub fn is_global_variable(self) -> bool {
        unsafe { !LLVMIsAGlobalVariable(self.0).is_null() }
    }

    /// Whether it is inline assembly.
    pub fn is_inline_assembly(self) -> bool {
        unsafe { !LLVMIsAInlineAsm(self.0).is_null() }
    }

    /// The text of inline assembly.
    pub fn assembly(self) -> String {
        let mut size = 0;
        let text = unsafe { LLVMGetInlineAsmAsmString(self.0, &mut size) };
        if text.is_null() {
            return String::new();
        }
        let bytes = unsafe { std::slice::from_raw_parts(text.cast::<u8>(), size) };
        String::from_utf8_lossy(bytes).into_owned()
    }

    /// The opcode of an instruction.
    pub fn opcode(self) -> Opcode {
        unsafe { LLVMGetInstructionOpcode(self.0) }
    }

    /// The opcode of a constant expression.
    pub fn constant_opcode(self) -> Option<Opcode> {
        let expression = unsafe { LLVMIsAConstantExpr(self.0) };
        (!expression.is_null()).then(|| unsafe { LLVMGetConstOpcode(self.0) })
    }

    /// The number of operands.
    pub fn operand_count(self) -> u32 {
        unsafe { LLVMGetNumOperands(self.0) as u32 }
    }

    /// Operand `index`.
    pub fn operand(self, index: u32) -> Value {
        Value(unsafe { LLVMGetOperand(self.0, index) })
    }

    /// A copy of an instruction that stands nowhere yet.
    pub fn copy(self) -> Value {
        Value(unsafe { LLVMInstructionClone(self.0) })
    }

    /// The operands.
    pub fn operands(self) -> impl Iterator<Item = Value> {
        (0..self.operand_count()).map(move |index| self.operand(index))
    }

    /// The instructions that use it.
    pub fn users(self) -> Vec<Value> {
        let mut users = Vec::new();
        let mut next = unsafe { LLVMGetFirstUse(self.0) };
        while !next.is_null() {
            users.push(Value(unsafe { LLVMGetUser(next) }));
            next = unsafe { LLVMGetNextUse(next) };
        }
        users
    }

    /// The value of an integer constant of at most 64 bits, zero-extended.
    pub fn constant_integer(self) -> Option<u64> {
        let integer = unsafe { LLVMIsAConstantInt(self.0) };
        let narrow = self.ty().scalar_width().is_some_and(|width| width <= 64);
        (!integer.is_null() && narrow).then(|| unsafe { LLVMConstIntGetZExtValue(self.0) })
    }

    /// Whether it is a constant: a number, an address, or made of such.
    pub fn is_constant(self) -> bool {
        unsafe { LLVMIsConstant(self.0) != 0 }
    }

    /// Whether it is a constant of zeros.
    pub fn is_null(self) -> bool {
        unsafe { LLVMIsNull(self.0) != 0 }
    }

    /// Whether it is a constant that may be anything.
    pub fn is_undefined(self) -> bool {
        unsafe { LLVMIsUndef(self.0) != 0 || LLVMIsPoison(self.0) != 0 }
    }

    /// An element of a constant array or struct.
    pub fn aggregate_element(self, index: u32) -> Value {
        Value(unsafe { LLVMGetAggregateElement(self.0, index) })
    }

    /// The bytes of a constant string without its final zero.
    pub fn constant_string(self) -> Option<String> {
        if unsafe {
            LLVMIsAConstantDataSequential(self.0).is_null() || LLVMIsConstantString(self.0) == 0
        } {
            return None;
        }
        let mut size = 0;
        let text = unsafe { LLVMGetAsString(self.0, &mut size) };
        let bytes = unsafe { std::slice::from_raw_parts(text.cast::<u8>(), size) };
        Some(String::from_utf8_lossy(bytes.strip_suffix(&[0]).unwrap_or(bytes)).into_owned())
    }

    /// The initial value of a global variable.
    pub fn initializer(self) -> Option<Value> {
        some(unsafe { LLVMGetInitializer(self.0) })
    }

    /// Whether a global variable never changes.
    pub fn is_global_constant(self) -> bool {
        self.is_global_variable() && unsafe { LLVMIsGlobalConstant(self.0) != 0 }
    }

    /// The type of a global variable's content, or a function's type.
    pub fn global_value_type(self) -> Type {
        Type(unsafe { LLVMGlobalGetValueType(self.0) })
    }

    /// Whether a global has no definition here.
    pub fn is_declaration(self) -> bool {
        unsafe { LLVMIsDeclaration(self.0) != 0 }
    }

    /// Whether a function's body is a copy of one that another unit defines.
    pub fn is_elsewhere(self) -> bool {
        unsafe { LLVMGetLinkage(self.0) == llvm_sys::LLVMLinkage::LLVMAvailableExternallyLinkage }
    }

    /// Whether other units cannot refer to it by its name.
    pub fn is_local(self) -> bool {
        use llvm_sys::LLVMLinkage::{LLVMInternalLinkage, LLVMPrivateLinkage};
        let linkage = unsafe { LLVMGetLinkage(self.0) };
        [LLVMInternalLinkage, LLVMPrivateLinkage].contains(&linkage)
    }

    /// Whether the linker makes one variable of this definition and others of its name.
    pub fn is_tentative(self) -> bool {
        use llvm_sys::LLVMLinkage::*;
        let linkage = unsafe { LLVMGetLinkage(self.0) };
        let alone = [LLVMExternalLinkage, LLVMInternalLinkage, LLVMPrivateLinkage];
        !alone.contains(&linkage)
    }

    /// Whether each thread has a global variable of its own.
    pub fn is_thread_local(self) -> bool {
        unsafe { LLVMIsThreadLocal(self.0) != 0 }
    }

    /// The section that the source names for a global; empty if it names none.
    pub fn section(self) -> String {
        let section = unsafe { LLVMGetSection(self.0) };
        if section.is_null() {
            return String::new();
        }
        let section = unsafe { CStr::from_ptr(section) };
        section.to_string_lossy().into_owned()
    }

    /// Whether a global lies in a section that the source names.
    pub fn has_section(self) -> bool {
        !self.section().is_empty()
    }

    /// Whether the linker keeps one of several copies of a function.
    pub fn has_comdat(self) -> bool {
        unsafe { !llvm_sys::comdat::LLVMGetComdat(self.0).is_null() }
    }

    /// Number of an intrinsic function; 0 for others.
    pub fn intrinsic_id(self) -> u32 {
        unsafe { LLVMGetIntrinsicID(self.0) }
    }

    /// The parameters of a function.
    pub fn parameters(self) -> Vec<Value> {
        let count = unsafe { LLVMCountParams(self.0) };
        (0..count)
            .map(|index| Value(unsafe { LLVMGetParam(self.0, index) }))
            .collect()
    }

    /// The blocks of a function in their order.
    pub fn blocks(self) -> Vec<Block> {
        let mut blocks = Vec::new();
        let mut next = unsafe { LLVMGetFirstBasicBlock(self.0) };
        while let Some(block) = some_block(next) {
            blocks.push(block);
            next = unsafe { LLVMGetNextBasicBlock(next) };
        }
        blocks
    }

    /// The block of an instruction.
    pub fn block(self) -> Block {
        Block(unsafe { LLVMGetInstructionParent(self.0) })
    }

    /// The instruction after this one in its block.
    pub fn next(self) -> Option<Value> {
        some(unsafe { LLVMGetNextInstruction(self.0) })
    }

    /// The called value of a call.
    pub fn called(self) -> Value {
        Value(unsafe { LLVMGetCalledValue(self.0) })
    }

    /// The function type of a call.
    pub fn called_type(self) -> Type {
        Type(unsafe { LLVMGetCalledFunctionType(self.0) })
    }

    /// The number of arguments of a call.
    pub fn argument_count(self) -> u32 {
        unsafe { LLVMGetNumArgOperands(self.0) }
    }

    /// The arguments of a call.
    pub fn arguments(self) -> Vec<Value> {
        (0..self.argument_count())
            .map(|index| self.operand(index))
            .collect()
    }

    /// Makes a call go to another function.
    pub fn set_called(self, function: Value) {
        let index = self.operand_count() - 1;
        unsafe { LLVMSetOperand(self.0, index, function.0) };
    }

    /// Whether a call must be a tail call.
    pub fn is_must_tail(self) -> bool {
        unsafe {
            LLVMGetTailCallKind(self.0) == llvm_sys::LLVMTailCallKind::LLVMTailCallKindMustTail
        }
    }

    /// The predicate of an integer comparison.
    pub fn predicate(self) -> Predicate {
        unsafe { LLVMGetICmpPredicate(self.0) }
    }

    /// Whether an arithmetic instruction has no meaning where its result is too large for a signed
    /// number.
    pub fn must_not_overflow(self) -> bool {
        let can = matches!(
            self.opcode(),
            Opcode::LLVMAdd | Opcode::LLVMSub | Opcode::LLVMMul | Opcode::LLVMShl
        );
        can && unsafe { LLVMGetNSW(self.0) != 0 }
    }

    /// Whether a load or store is volatile or atomic.
    pub fn is_volatile_or_atomic(self) -> bool {
        self.is_atomic() || unsafe { LLVMGetVolatile(self.0) != 0 }
    }

    /// Whether a load or store is atomic.
    pub fn is_atomic(self) -> bool {
        let plain = llvm_sys::LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic;
        unsafe { LLVMGetOrdering(self.0) != plain }
    }

    /// The alignment of a load or store.
    pub fn alignment(self) -> u32 {
        unsafe { LLVMGetAlignment(self.0) }
    }

    /// Gives a load or store another alignment.
    pub fn set_alignment(self, bytes: u32) {
        unsafe { LLVMSetAlignment(self.0, bytes) };
    }

    /// The type that an `alloca` makes room for.
    pub fn allocated_type(self) -> Type {
        Type(unsafe { LLVMGetAllocatedType(self.0) })
    }

    /// The source element type of a `getelementptr`.
    pub fn element_source_type(self) -> Type {
        Type(unsafe { LLVMGetGEPSourceElementType(self.0) })
    }

    /// The indices of an `extractvalue` or `insertvalue`.
    pub fn aggregate_indices(self) -> Vec<u32> {
        let count = unsafe { LLVMGetNumIndices(self.0) } as usize;
        unsafe { std::slice::from_raw_parts(LLVMGetIndices(self.0), count) }.to_vec()
    }

    /// The incoming values of a phi with their blocks.
    pub fn incoming(self) -> Vec<(Value, Block)> {
        let count = unsafe { LLVMCountIncoming(self.0) };
        let entry = |index| unsafe {
            (
                Value(LLVMGetIncomingValue(self.0, index)),
                Block(LLVMGetIncomingBlock(self.0, index)),
            )
        };
        (0..count).map(entry).collect()
    }

    /// Adds an incoming value to a phi.
    pub fn add_incoming(self, value: Value, block: Block) {
        unsafe { LLVMAddIncoming(self.0, [value.0].as_mut_ptr(), [block.0].as_mut_ptr(), 1) };
    }

    /// The successors of a terminator.
    pub fn successors(self) -> Vec<Block> {
        let count = unsafe { LLVMGetNumSuccessors(self.0) };
        (0..count)
            .map(|index| Block(unsafe { LLVMGetSuccessor(self.0, index) }))
            .collect()
    }

    /// Makes a terminator lead to another block.
    pub fn set_successor(self, index: u32, block: Block) {
        unsafe { LLVMSetSuccessor(self.0, index, block.0) };
    }

    /// The condition, if this is a branch with two ways.
    pub fn branch_condition(self) -> Option<Value> {
        let two_ways = self.opcode() == Opcode::LLVMBr && unsafe { LLVMIsConditional(self.0) != 0 };
        two_ways.then(|| Value(unsafe { LLVMGetCondition(self.0) }))
    }

    /// Everything that uses this value uses `other` from now on.
    pub fn replace_by(self, other: Value) {
        unsafe { LLVMReplaceAllUsesWith(self.0, other.0) };
    }

    /// Changes an operand.
    pub fn set_operand(self, index: u32, value: Value) {
        unsafe { LLVMSetOperand(self.0, index, value.0) };
    }

    /// Removes an instruction for good.
    pub fn erase(self) {
        unsafe { LLVMInstructionEraseFromParent(self.0) };
    }

    /// Takes an instruction out of its block, to be inserted elsewhere.
    pub(super) fn detach(self) {
        unsafe { LLVMInstructionRemoveFromParent(self.0) };
    }

    /// File, line and column of an instruction as the debug information has them; none and 0
    /// where it has not. What was inlined from a system's header (as with `_FORTIFY_SOURCE`)
    /// is where the program called it.
    pub fn place(self) -> (Option<String>, u32, u32) {
        let mut location = unsafe { LLVMInstructionGetDebugLoc(self.0) };
        if location.is_null() {
            return (None, 0, 0);
        }
        loop {
            let file = file_of(location);
            let is_system = file.as_deref().is_some_and(is_system_header);
            let outer = unsafe { LLVMDILocationGetInlinedAt(location) };
            if !is_system || outer.is_null() {
                let line = unsafe { LLVMDILocationGetLine(location) };
                return (file, line, unsafe { LLVMDILocationGetColumn(location) });
            }
            location = outer;
        }
    }

    /// Whether a function, or parameter or result `index` of it, has this attribute
    /// (function: `u32::MAX`; result: 0; parameters from 1).
    pub fn has_attribute(self, index: u32, kind: &str) -> bool {
        unsafe { !LLVMGetEnumAttributeAtIndex(self.0, index, attribute_kind(kind)).is_null() }
    }

    /// Whether a function has this attribute of LLVM's textual kind.
    pub fn has_text_attribute(self, name: &str) -> bool {
        const FUNCTION: u32 = u32::MAX;
        let (text, size) = (name.as_ptr().cast(), name.len() as u32);
        unsafe { !LLVMGetStringAttributeAtIndex(self.0, FUNCTION, text, size).is_null() }
    }

    /// Whether a call itself has this attribute.
    pub fn has_call_attribute(self, kind: &str) -> bool {
        const FUNCTION: u32 = u32::MAX;
        let kind = attribute_kind(kind);
        unsafe { !LLVMGetCallSiteEnumAttribute(self.0, FUNCTION, kind).is_null() }
    }

    /// The type of a type attribute (`byval`) of a parameter of a function or call.
    pub fn parameter_type_attribute(self, parameter: u32, kind: &str) -> Option<Type> {
        let kind = attribute_kind(kind);
        let attribute = unsafe {
            if self.is_function() {
                LLVMGetEnumAttributeAtIndex(self.0, parameter + 1, kind)
            } else {
                LLVMGetCallSiteEnumAttribute(self.0, parameter + 1, kind)
            }
        };
        (!attribute.is_null()).then(|| Type(unsafe { LLVMGetTypeAttributeValue(attribute) }))
    }

    /// Removes an attribute of a function or call.
    pub fn remove_attribute(self, kind: &str) {
        const FUNCTION: u32 = u32::MAX;
        let kind = attribute_kind(kind);
        unsafe {
            if self.is_function() {
                LLVMRemoveEnumAttributeAtIndex(self.0, FUNCTION, kind);
            } else {
                LLVMRemoveCallSiteEnumAttribute(self.0, FUNCTION, kind);
            }
        }
    }
}

fn attribute_kind(name: &str) -> u32 {
    unsafe { LLVMGetEnumAttributeKindForName(c_string(name).as_ptr(), name.len()) }
}

impl Block {
    /// The instructions in their order.
    pub fn instructions(self) -> Vec<Value> {
        let mut instructions = Vec::new();
        let mut next = self.first();
        while let Some(instruction) = next {
            instructions.push(instruction);
            next = instruction.next();
        }
        instructions
    }

    /// The phis.
    pub fn phis(self) -> Vec<Value> {
        let is_phi = |instruction: &Value| instruction.opcode() == Opcode::LLVMPHI;
        std::iter::successors(self.first(), |instruction| instruction.next())
            .take_while(is_phi)
            .collect()
    }

    /// The first instruction.
    pub fn first(self) -> Option<Value> {
        some(unsafe { LLVMGetFirstInstruction(self.0) })
    }

    /// The last instruction.
    pub fn last(self) -> Option<Value> {
        some(unsafe { LLVMGetLastInstruction(self.0) })
    }

    /// The terminator.
    pub fn terminator(self) -> Value {
        Value(unsafe { LLVMGetBasicBlockTerminator(self.0) })
    }

    /// The terminators that lead to it.
    pub fn jumps(self) -> Vec<Value> {
        let users = Value(unsafe { LLVMBasicBlockAsValue(self.0) }).users();
        let is_jump = |user: &Value| user.is_instruction();
        users.into_iter().filter(is_jump).collect()
    }

    /// The function it belongs to.
    pub fn function(self) -> Value {
        Value(unsafe { LLVMGetBasicBlockParent(self.0) })
    }

    /// Puts this block right before `other`.
    pub fn move_before(self, other: Block) {
        unsafe { LLVMMoveBasicBlockBefore(self.0, other.0) };
    }
}

/// The file of a location.
fn file_of(location: LLVMMetadataRef) -> Option<String> {
    let file = unsafe { LLVMDIScopeGetFile(LLVMDILocationGetScope(location)) };
    if file.is_null() {
        return None;
    }
    let mut size = 0;
    let text = unsafe { LLVMDIFileGetFilename(file, &mut size) };
    if text.is_null() || size == 0 {
        return None;
    }
    let bytes = unsafe { std::slice::from_raw_parts(text.cast::<u8>(), size as usize) };
    Some(String::from_utf8_lossy(bytes).into_owned())
}

fn is_system_header(file: &str) -> bool {
    file.starts_with("/usr/include/")
}
