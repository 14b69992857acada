//! Writing instructions.

use llvm_sys::core::*;
use llvm_sys::prelude::*;

use super::{Block, Module, Opcode, Predicate, Type, Value};

/// Writes instructions at a place.
#[derive(Debug)]
pub struct Builder {
    builder: LLVMBuilderRef,
    context: LLVMContextRef,
}

const UNNAMED: *const std::ffi::c_char = c"".as_ptr();

/// LLVM's number of the `preserve_most` calling convention.
const PRESERVE_MOST: u32 = 14;

impl Builder {
    /// A builder for the context of `module`.
    pub fn new(module: &Module) -> Builder {
        let context = module.context();
        Builder {
            builder: unsafe { LLVMCreateBuilderInContext(context) },
            context,
        }
    }

    /// Writes from now on at the end of `block`, without debug location.
    pub fn at_end(&self, block: Block) {
        unsafe {
            LLVMPositionBuilderAtEnd(self.builder, block.0);
            LLVMSetCurrentDebugLocation2(self.builder, std::ptr::null_mut());
        }
    }

    /// Writes from now on before `instruction`, with its debug location.
    pub fn before(&self, instruction: Value) {
        unsafe { LLVMPositionBuilderBefore(self.builder, instruction.0) };
        self.locate_as(instruction);
    }

    /// Gives what follows the debug location of `instruction`.
    pub fn locate_as(&self, instruction: Value) {
        unsafe {
            let location = llvm_sys::debuginfo::LLVMInstructionGetDebugLoc(instruction.0);
            LLVMSetCurrentDebugLocation2(self.builder, location);
        }
    }

    /// Moves `instruction` from where it is to here, with its own debug location.
    pub fn take(&self, instruction: Value) {
        instruction.detach();
        // LLVMInsertIntoBuilder would overwrite the location with the builder's own.
        self.locate_as(instruction);
        unsafe { LLVMInsertIntoBuilder(self.builder, instruction.0) };
    }

    /// Moves `instruction` from another function to here; its place there means nothing here.
    pub fn adopt(&self, instruction: Value) {
        instruction.detach();
        self.insert(instruction);
    }

    /// Inserts an instruction that stands nowhere, without debug location.
    pub fn insert(&self, instruction: Value) {
        unsafe {
            LLVMSetCurrentDebugLocation2(self.builder, std::ptr::null_mut());
            llvm_sys::debuginfo::LLVMInstructionSetDebugLoc(instruction.0, std::ptr::null_mut());
            LLVMInsertIntoBuilder(self.builder, instruction.0);
        }
    }

    /// Returns nothing, one value, or several as a struct.
    pub fn return_words(&self, words: &[Value]) {
        let mut words: Vec<_> = words.iter().map(|word| word.0).collect();
        unsafe {
            match words.len() {
                0 => LLVMBuildRetVoid(self.builder),
                1 => LLVMBuildRet(self.builder, words[0]),
                count => LLVMBuildAggregateRet(self.builder, words.as_mut_ptr(), count as u32),
            }
        };
    }

    /// Makes every jump to `from` go to `to` instead. Phis that name `from` as where they come
    /// from keep doing so: LLVM would rename them too, if `from` had its terminator while its
    /// uses are replaced.
    pub fn redirect_jumps(&self, from: Block, to: Block) {
        let terminator = from.terminator();
        self.locate_as(terminator);
        terminator.detach();
        unsafe {
            LLVMReplaceAllUsesWith(LLVMBasicBlockAsValue(from.0), LLVMBasicBlockAsValue(to.0));
            LLVMPositionBuilderAtEnd(self.builder, from.0);
            LLVMInsertIntoBuilder(self.builder, terminator.0);
        }
    }

    /// Moves what stands before `end` in its block into a new block, without terminator, that
    /// jumps go to. The old block keeps its identity, so phis of its successors stay right.
    pub fn split_before(&self, end: Value) -> Block {
        let tail = end.block();
        let head = self.append_block(tail.function(), c"nm.head");
        head.move_before(tail);
        let mut next = tail.first();
        self.at_end(head);
        while let Some(instruction) = next.filter(|instruction| *instruction != end) {
            next = instruction.next();
            self.take(instruction);
        }
        self.redirect_jumps(tail, head);
        head
    }

    /// The type of integers of `width` bits.
    pub fn integer_type(&self, width: u32) -> Type {
        Type(unsafe { LLVMIntTypeInContext(self.context, width) })
    }

    /// The type of structs with these fields.
    pub fn struct_type(&self, fields: &[Type]) -> Type {
        let mut fields: Vec<_> = fields.iter().map(|field| field.0).collect();
        let count = fields.len() as u32;
        Type(unsafe { LLVMStructTypeInContext(self.context, fields.as_mut_ptr(), count, 0) })
    }

    /// The type of pointers.
    pub fn pointer_type(&self) -> Type {
        Type(unsafe { LLVMPointerTypeInContext(self.context, 0) })
    }

    /// An integer constant.
    pub fn integer(&self, width: u32, value: u64) -> Value {
        Value(unsafe { LLVMConstInt(self.integer_type(width).0, value, 0) })
    }

    /// A 32-bit constant.
    pub fn u32(&self, value: u32) -> Value {
        self.integer(32, value.into())
    }

    /// A 64-bit constant.
    pub fn u64(&self, value: u64) -> Value {
        self.integer(64, value)
    }

    /// A constant struct.
    pub fn constant_struct(&self, fields: &[Value]) -> Value {
        let mut fields: Vec<_> = fields.iter().map(|field| field.0).collect();
        let count = fields.len() as u32;
        Value(unsafe { LLVMConstStructInContext(self.context, fields.as_mut_ptr(), count, 0) })
    }

    /// A constant array.
    pub fn constant_array(&self, element: Type, elements: &[Value]) -> Value {
        let mut elements: Vec<_> = elements.iter().map(|element| element.0).collect();
        let count = elements.len() as u64;
        Value(unsafe { LLVMConstArray2(element.0, elements.as_mut_ptr(), count) })
    }

    /// A binary operation.
    pub fn binary(&self, opcode: Opcode, a: Value, b: Value) -> Value {
        Value(unsafe { LLVMBuildBinOp(self.builder, opcode, a.0, b.0, UNNAMED) })
    }

    /// Bitwise or.
    pub fn or(&self, a: Value, b: Value) -> Value {
        self.binary(Opcode::LLVMOr, a, b)
    }

    /// An integer comparison.
    pub fn compare(&self, predicate: Predicate, a: Value, b: Value) -> Value {
        Value(unsafe { LLVMBuildICmp(self.builder, predicate, a.0, b.0, UNNAMED) })
    }

    /// Whether an integer is not zero.
    pub fn is_not_zero(&self, value: Value) -> Value {
        let zero = Value(unsafe { LLVMConstNull(LLVMTypeOf(value.0)) });
        self.compare(Predicate::LLVMIntNE, value, zero)
    }

    /// `condition ? a : b`.
    pub fn select(&self, condition: Value, a: Value, b: Value) -> Value {
        Value(unsafe { LLVMBuildSelect(self.builder, condition.0, a.0, b.0, UNNAMED) })
    }

    /// An integer or pointer as an unsigned integer of `width` bits.
    pub fn unsigned(&self, value: Value, width: u32) -> Value {
        let target = self.integer_type(width).0;
        Value(unsafe {
            if value.ty().is_pointer() {
                let address =
                    LLVMBuildPtrToInt(self.builder, value.0, self.integer_type(64).0, UNNAMED);
                return if width == 64 {
                    Value(address)
                } else {
                    self.unsigned(Value(address), width)
                };
            }
            let from = LLVMGetIntTypeWidth(LLVMTypeOf(value.0));
            match from.cmp(&width) {
                std::cmp::Ordering::Less => LLVMBuildZExt(self.builder, value.0, target, UNNAMED),
                std::cmp::Ordering::Equal => value.0,
                std::cmp::Ordering::Greater => {
                    LLVMBuildTrunc(self.builder, value.0, target, UNNAMED)
                }
            }
        })
    }

    /// An integer as a signed integer of `width` bits.
    pub fn signed(&self, value: Value, width: u32) -> Value {
        let target = self.integer_type(width).0;
        Value(unsafe { LLVMBuildSExtOrBitCast(self.builder, value.0, target, UNNAMED) })
    }

    /// The address `offset` bytes after `pointer`.
    pub fn offset(&self, pointer: Value, offset: Value) -> Value {
        let byte = self.integer_type(8).0;
        Value(unsafe {
            LLVMBuildGEP2(
                self.builder,
                byte,
                pointer.0,
                [offset.0].as_mut_ptr(),
                1,
                UNNAMED,
            )
        })
    }

    /// A load with alignment 1.
    pub fn load(&self, ty: Type, pointer: Value) -> Value {
        let load = unsafe { LLVMBuildLoad2(self.builder, ty.0, pointer.0, UNNAMED) };
        unsafe { LLVMSetAlignment(load, 1) };
        Value(load)
    }

    /// Says that a load reads what never changes.
    pub fn mark_invariant(&self, load: Value) {
        const INVARIANT: &str = "invariant.load";
        unsafe {
            let kind = LLVMGetMDKindIDInContext(
                self.context,
                INVARIANT.as_ptr().cast(),
                INVARIANT.len() as u32,
            );
            let empty = LLVMMDNodeInContext2(self.context, std::ptr::null_mut(), 0);
            LLVMSetMetadata(load.0, kind, LLVMMetadataAsValue(self.context, empty));
            LLVMSetAlignment(load.0, 8);
        }
    }

    /// A store with natural alignment.
    pub fn store(&self, value: Value, pointer: Value) {
        unsafe { LLVMBuildStore(self.builder, value.0, pointer.0) };
    }

    /// Room on the stack.
    pub fn alloca(&self, ty: Type, count: u64) -> Value {
        Value(unsafe { LLVMBuildAlloca(self.builder, LLVMArrayType2(ty.0, count), UNNAMED) })
    }

    /// Room on the stack for one value.
    pub fn alloca_one(&self, ty: Type, alignment: u32) -> Value {
        let room = Value(unsafe { LLVMBuildAlloca(self.builder, ty.0, UNNAMED) });
        room.set_alignment(alignment);
        room
    }

    /// The stack pointer.
    pub fn stack_pointer(&self) -> Value {
        self.call_intrinsic("llvm.stacksave", self.pointer_type(), &[])
    }

    /// The address of the function's frame: above everything that it keeps on the stack.
    pub fn frame_address(&self) -> Value {
        self.call_intrinsic("llvm.frameaddress", self.pointer_type(), &[self.u32(0)])
    }

    /// Where the function returns to.
    pub fn return_address(&self) -> Value {
        self.call_plain_intrinsic("llvm.returnaddress", &[self.u32(0)])
    }

    /// A call of an intrinsic that is not overloaded.
    fn call_plain_intrinsic(&self, name: &str, arguments: &[Value]) -> Value {
        unsafe {
            let number = LLVMLookupIntrinsicID(name.as_ptr().cast(), name.len());
            let block = LLVMGetInsertBlock(self.builder);
            let module = LLVMGetGlobalParent(LLVMGetBasicBlockParent(block));
            let function = LLVMGetIntrinsicDeclaration(module, number, std::ptr::null_mut(), 0);
            self.call(
                Type(LLVMGlobalGetValueType(function)),
                Value(function),
                arguments,
            )
        }
    }

    /// A call of an intrinsic that is overloaded on one type.
    fn call_intrinsic(&self, name: &str, overload: Type, arguments: &[Value]) -> Value {
        let mut arguments: Vec<_> = arguments.iter().map(|argument| argument.0).collect();
        let mut types = [overload.0];
        unsafe {
            let number = LLVMLookupIntrinsicID(name.as_ptr().cast(), name.len());
            let block = LLVMGetInsertBlock(self.builder);
            let module = LLVMGetGlobalParent(LLVMGetBasicBlockParent(block));
            let function = LLVMGetIntrinsicDeclaration(module, number, types.as_mut_ptr(), 1);
            Value(LLVMBuildCall2(
                self.builder,
                LLVMGlobalGetValueType(function),
                function,
                arguments.as_mut_ptr(),
                arguments.len() as u32,
                UNNAMED,
            ))
        }
    }

    /// A call of a hook.
    pub fn call_hook(&self, function: Value, arguments: &[Value]) -> Value {
        let mut arguments: Vec<_> = arguments.iter().map(|argument| argument.0).collect();
        unsafe {
            let ty = LLVMGlobalGetValueType(function.0);
            let count = arguments.len() as u32;
            let call = LLVMBuildCall2(
                self.builder,
                ty,
                function.0,
                arguments.as_mut_ptr(),
                count,
                UNNAMED,
            );
            LLVMSetInstructionCallConv(call, PRESERVE_MOST);
            Value(call)
        }
    }

    /// A call with the C convention.
    pub fn call(&self, ty: Type, function: Value, arguments: &[Value]) -> Value {
        let mut arguments: Vec<_> = arguments.iter().map(|argument| argument.0).collect();
        let count = arguments.len() as u32;
        let start = arguments.as_mut_ptr();
        Value(unsafe { LLVMBuildCall2(self.builder, ty.0, function.0, start, count, UNNAMED) })
    }

    /// An integer of 64 bits as a pointer.
    pub fn pointer(&self, address: Value) -> Value {
        let ty = self.pointer_type().0;
        Value(unsafe { LLVMBuildIntToPtr(self.builder, address.0, ty, UNNAMED) })
    }

    /// The end of a function.
    pub fn return_value(&self, value: Value) {
        unsafe { LLVMBuildRet(self.builder, value.0) };
    }

    /// A constant text with a zero at its end, in the module.
    pub fn text(&self, module: &Module, text: &str) -> Value {
        module.add_constant(Value(unsafe {
            let (start, size) = (text.as_ptr().cast(), text.len());
            LLVMConstStringInContext2(self.context, start, size, 0)
        }))
    }

    /// A field of a struct in registers.
    pub fn extract_field(&self, whole: Value, index: u32) -> Value {
        Value(unsafe { LLVMBuildExtractValue(self.builder, whole.0, index, UNNAMED) })
    }

    /// A phi without incoming values.
    pub fn phi(&self, ty: Type) -> Value {
        Value(unsafe { LLVMBuildPhi(self.builder, ty.0, UNNAMED) })
    }

    /// A jump.
    pub fn jump(&self, to: Block) {
        unsafe { LLVMBuildBr(self.builder, to.0) };
    }

    /// A branch.
    pub fn branch(&self, condition: Value, when_true: Block, when_false: Block) {
        unsafe { LLVMBuildCondBr(self.builder, condition.0, when_true.0, when_false.0) };
    }

    /// A branch that is hardly ever taken.
    pub fn branch_unlikely(&self, condition: Value, taken: Block, other: Block) {
        const PROFILE: &str = "prof";
        const WEIGHTS: &str = "branch_weights";
        unsafe {
            let branch = LLVMBuildCondBr(self.builder, condition.0, taken.0, other.0);
            let kind = LLVMGetMDKindIDInContext(
                self.context,
                PROFILE.as_ptr().cast(),
                PROFILE.len() as u32,
            );
            let weight = |value| LLVMValueAsMetadata(self.u32(value).0);
            let mut parts = [
                LLVMMDStringInContext2(self.context, WEIGHTS.as_ptr().cast(), WEIGHTS.len()),
                weight(1),
                weight(1_000_000),
            ];
            let node = LLVMMDNodeInContext2(self.context, parts.as_mut_ptr(), parts.len());
            LLVMSetMetadata(branch, kind, LLVMMetadataAsValue(self.context, node));
        }
    }

    /// A new block at the end of `function`.
    pub fn append_block(&self, function: Value, name: &std::ffi::CStr) -> Block {
        Block(unsafe { LLVMAppendBasicBlockInContext(self.context, function.0, name.as_ptr()) })
    }
}

impl Drop for Builder {
    fn drop(&mut self) {
        unsafe { LLVMDisposeBuilder(self.builder) };
    }
}
