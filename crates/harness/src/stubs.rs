//! Functions for function pointers, and for functions that nobody defines: what they give back is an input,
//! and what they write through their pointers, if they are to.

use nearmiss_results::Role;

use crate::HarnessError;
use crate::layout::{Builder, Scene, Waiting};
use crate::model::{Owner, Place, Root, Stub, Target, Write};
use crate::path::{Path, Step};
use crate::rulebook::Subject;
use crate::rules::{RuleKind, WRITES};
use crate::types::{BYTE, Kind, Signature, TypeId};

/// How many calls of a stub have a result of their own; later ones have that of the last.
pub(crate) const STUB_CALLS: u64 = 3;

impl Builder<'_> {
    /// A function for a function pointer; none where stubs lead to themselves.
    pub fn stub(
        &mut self,
        waiting: &Waiting,
        path: &Path,
        of: TypeId,
        signature: &Signature,
    ) -> Result<Option<Target>, HarnessError> {
        if waiting.scene.nesting.contains(&of) {
            return Ok(None);
        }
        let said = self.rule(RuleKind::Stub, waiting, path);
        let mut nesting = waiting.scene.nesting.clone();
        nesting.push(of);
        let number = self.make_stub(path, of, signature, (nesting, said.as_deref()))?;
        Ok(Some(Target::Stub(number)))
    }

    /// A function of the program that nobody defines.
    pub fn function_stub(&mut self, name: &str, of: TypeId) -> Result<(), HarnessError> {
        let Kind::Function(signature) = self.types.kind(of) else {
            return Ok(());
        };
        if !self.types.is_nameable(of) {
            return Err(HarnessError(format!(
                "`--stub {name}`: its type has a structure without a name, which the harness cannot write"
            )));
        }
        let path = Path::root(name);
        let said = self.rules.about(RuleKind::Stub, plain(&path), self.types);
        let nesting = vec![self.types.bare(of)];
        let number = self.make_stub(&path, of, signature, (nesting, said.as_deref()))?;
        self.layout.stubs[number].function = Some(name.to_string());
        Ok(())
    }

    fn make_stub(
        &mut self,
        path: &Path,
        of: TypeId,
        signature: &Signature,
        (nesting, said): (Vec<TypeId>, Option<&str>),
    ) -> Result<usize, HarnessError> {
        let number = self.layout.stubs.len();
        self.layout.stubs.push(Stub {
            path: path.clone(),
            of,
            signature: signature.clone(),
            root: None,
            writes: Vec::new(),
            function: None,
        });
        if self.types.size(signature.result) > 0 {
            let name = path.then(Step::Call);
            let root = self.calls(&name, signature.result, 1, &nesting)?;
            self.layout.stubs[number].root = Some(root);
        }
        if said == Some(WRITES) {
            self.layout.stubs[number].writes = self.writes(path, of, signature, &nesting)?;
        } else if said.is_none() && (signature.parameters.iter()).any(|it| self.is_writable(it.of))
        {
            self.note(format!(
                "`{path}` is a stub and does not write through its pointers: `--stub {path}={WRITES}` \
                 makes what it writes there inputs"
            ));
        }
        Ok(number)
    }

    /// The root with `count` elements for each call.
    fn calls(
        &mut self,
        name: &Path,
        of: TypeId,
        count: u64,
        nesting: &[TypeId],
    ) -> Result<usize, HarnessError> {
        let size = self.types.size(of);
        let at = self.reserve(size.saturating_mul(count).saturating_mul(STUB_CALLS), name)?;
        let root = self.layout.roots.len();
        self.layout.roots.push(Root {
            name: name.to_string(),
            role: Role::Stub,
            of,
            elements: STUB_CALLS * count,
            at,
            place: Place::Harness,
        });
        let scene = Scene::new(Owner::Root(root), nesting.to_vec(), Vec::new());
        for element in 0..STUB_CALLS * count {
            let path = name.then(Step::Index(element / count));
            let path = match count {
                1 => path,
                _ => path.then(Step::Index(element % count)),
            };
            self.place(of, &path, at + (element * size) as usize, &scene)?;
        }
        Ok(root)
    }

    /// What a stub writes: one element through each pointer, or as many as `--size` says.
    fn writes(
        &mut self,
        path: &Path,
        of: TypeId,
        signature: &Signature,
        nesting: &[TypeId],
    ) -> Result<Vec<Write>, HarnessError> {
        let refused = |why: &str| Err(HarnessError(format!("`--stub {path}={WRITES}`: {why}")));
        if !self.types.is_nameable(of) {
            return refused(
                "its type has a structure without a name, which the harness cannot write",
            );
        }
        let mut writes = Vec::new();
        for (parameter, given) in signature.parameters.iter().enumerate() {
            let Kind::Pointer(target) = *self.types.kind(given.of) else {
                continue;
            };
            let name = path
                .then(Step::Call)
                .member(&argument(&given.name, parameter));
            let size = self.rules.about(RuleKind::Size, plain(&name), self.types);
            let untyped = matches!(self.types.kind(target), Kind::Void) && size.is_some();
            if !untyped && !self.is_writable(given.of) {
                continue;
            }
            let count = match size.as_deref().map(str::parse) {
                None => 1,
                Some(Ok(count)) if count > 0 => count,
                Some(_) => {
                    let size = size.unwrap_or_default();
                    return refused(&format!(
                        "`--size {name}={size}`: a stub writes a fixed number of elements"
                    ));
                }
            };
            let element = if untyped { BYTE } else { target };
            let root = self.calls(&name, element, count, nesting)?;
            writes.push(Write {
                parameter,
                root,
                count,
            });
        }
        if writes.is_empty() {
            return refused(&format!(
                "it has no pointer to write through; one to void needs `--size '{path}().argument1=BYTES'`"
            ));
        }
        Ok(writes)
    }

    /// Whether it is a pointer to data of a known size that is not constant.
    fn is_writable(&self, of: TypeId) -> bool {
        let types = self.types;
        let Kind::Pointer(target) = *types.kind(of) else {
            return false;
        };
        let is_data = !matches!(types.kind(target), Kind::Function(_) | Kind::Void);
        is_data && types.size(target) > 0 && !types.is_qualified(target, "const")
    }
}

/// The name of a stub's parameter: types of functions have none.
fn argument(name: &str, parameter: usize) -> String {
    match name {
        "" => format!("argument{}", parameter + 1),
        name => name.to_string(),
    }
}

/// An input of which only its path is known.
fn plain(path: &Path) -> Subject<'_> {
    Subject {
        path,
        member: None,
        tags: &[],
    }
}
