/// Value behind one reference: a copy of its owner counts one reference instead of one for each field of the value. It is
/// changed in place while it is not shared.
@propertyWrapper
@frozen
package struct CopyOnWrite<Value: Sendable>: Sendable {
    /// One element; the standard library shares an array until it is changed.
    @usableFromInline
    var storage: ContiguousArray<Value>

    /// Moves a value behind a reference.
    @inlinable
    package init(wrappedValue: Value) {
        self.storage = [wrappedValue]
    }

    /// The value.
    @inlinable
    package var wrappedValue: Value {
        get { self.storage[0] }
        _modify { yield &self.storage[0] }
    }
}
