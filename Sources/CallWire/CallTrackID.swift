/// The id of a track at a call relay: 32 bytes that only the two sides of the call can compute (docs/calls.md).
package struct CallTrackID: Sendable, Hashable {
    package static let length = 32

    /// ``length`` bytes.
    package let bytes: [UInt8]

    /// Returns nil for any other number of bytes.
    package init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Self.length else { return nil }
        self.bytes = Array(bytes)
    }
}

/// Hides the id, which gives access to the track.
extension CallTrackID: CustomStringConvertible, CustomReflectable {
    package var description: String { "a call's track" }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
