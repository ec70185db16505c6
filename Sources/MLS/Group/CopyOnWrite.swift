/// Value behind one reference: a copy of its owner counts one reference instead of one for each field of the value. It is
/// changed in place while it is not shared.
@frozen
package struct CopyOnWrite<Value: Sendable>: Sendable {
    /// One element; the standard library shares an array until it is changed.
    @usableFromInline
    var storage: ContiguousArray<Value>

    /// Moves a value behind a reference.
    @inlinable
    package init(_ value: Value) {
        self.storage = [value]
    }

    /// The value, accessed in place.
    @inlinable
    package var value: Value {
        // Not `storage[0]`, which copies the value.
        _read { yield self.storage.span[0] }
        _modify { yield &self.storage[0] }
    }
}
