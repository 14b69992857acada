//! Types.

use llvm_sys::LLVMTypeKind;
use llvm_sys::core::*;
use llvm_sys::prelude::*;

/// A type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Type(pub(super) LLVMTypeRef);

impl Type {
    fn kind(self) -> LLVMTypeKind {
        unsafe { LLVMGetTypeKind(self.0) }
    }

    /// The type as LLVM writes it.
    pub fn text(self) -> String {
        unsafe {
            let printed = LLVMPrintTypeToString(self.0);
            let text = std::ffi::CStr::from_ptr(printed)
                .to_string_lossy()
                .into_owned();
            LLVMDisposeMessage(printed);
            text
        }
    }

    /// Whether it is an integer type.
    pub fn is_integer(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMIntegerTypeKind
    }

    /// Whether it is a pointer type.
    pub fn is_pointer(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMPointerTypeKind
    }

    /// Whether it is `void`.
    pub fn is_void(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMVoidTypeKind
    }

    /// Whether it is a vector type.
    pub fn is_vector(self) -> bool {
        matches!(
            self.kind(),
            LLVMTypeKind::LLVMVectorTypeKind | LLVMTypeKind::LLVMScalableVectorTypeKind
        )
    }

    /// Whether it is a struct type.
    pub fn is_struct(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMStructTypeKind
    }

    /// Whether it is an array type.
    pub fn is_array(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMArrayTypeKind
    }

    /// Whether it is `float`.
    pub fn is_float(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMFloatTypeKind
    }

    /// Whether it is `double`.
    pub fn is_double(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMDoubleTypeKind
    }

    /// Whether it is `long double` of x86.
    pub fn is_long_double(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMX86_FP80TypeKind
    }

    /// Whether it is `float` or `double`, which pass in vector registers.
    pub fn is_float_or_double(self) -> bool {
        self.is_float() || self.is_double()
    }

    /// The width of an integer (up to 128) or pointer: of what can carry a label.
    pub fn scalar_width(self) -> Option<u32> {
        if self.is_pointer() {
            return Some(64);
        }
        if !self.is_integer() {
            return None;
        }
        let width = unsafe { LLVMGetIntTypeWidth(self.0) };
        (width <= nearmiss_abi::op::MAX_WIDTH).then_some(width)
    }

    /// The fields of a struct.
    pub fn fields(self) -> Vec<Type> {
        let count = unsafe { LLVMCountStructElementTypes(self.0) };
        (0..count)
            .map(|index| Type(unsafe { LLVMStructGetTypeAtIndex(self.0, index) }))
            .collect()
    }

    /// Element type of an array or vector.
    pub fn element(self) -> Type {
        Type(unsafe { LLVMGetElementType(self.0) })
    }

    /// Length of an array.
    pub fn array_length(self) -> u64 {
        unsafe { LLVMGetArrayLength2(self.0) }
    }

    /// The type of arrays of this type.
    pub fn array(self, count: u64) -> Type {
        Type(unsafe { LLVMArrayType2(self.0, count) })
    }

    /// The result of a function type.
    pub fn return_type(self) -> Type {
        Type(unsafe { LLVMGetReturnType(self.0) })
    }

    /// The parameters of a function type.
    pub fn parameters(self) -> Vec<Type> {
        let count = unsafe { LLVMCountParamTypes(self.0) } as usize;
        let mut types = vec![std::ptr::null_mut(); count];
        unsafe { LLVMGetParamTypes(self.0, types.as_mut_ptr()) };
        types.into_iter().map(Type).collect()
    }

    /// Whether a function type is variadic.
    pub fn is_variadic(self) -> bool {
        unsafe { LLVMIsFunctionVarArg(self.0) != 0 }
    }
}
