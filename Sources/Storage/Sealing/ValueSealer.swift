import Foundation

/// Seals single values of a bot's database file with an account's storage key.
///
/// A value opens only in the file that it was sealed for, but in any row of it.
package struct ValueSealer: Sendable {
    /// The bytes that a sealed value has in addition.
    package static let overhead = Sealer.overhead

    private let sealer: Sealer
    private let place: Place
    private let file: [UInt8]

    /// - Parameter file: The name of the file within the account.
    init(_ sealer: Sealer, file: String) {
        self.sealer = sealer
        self.file = Array(file.utf8)
        place = Place(.botValue, self.file)
    }

    /// Seals with a key that belongs to no account, for tests.
    package init(_ key: SealingKey, file: String) {
        self.init(Sealer(key, database: 0), file: file)
    }

    package func seal(_ value: [UInt8]) -> [UInt8] { Array(sealer.seal(value, in: place)) }

    /// Throws `StoreError.Code.corrupt`.
    package func open(_ sealed: [UInt8]) throws(StoreError) -> [UInt8] {
        try sealer.openBytes(Data(sealed), in: place)
    }

    /// Returns the keyed hash by which a value can be found: 16 bytes.
    package func lookup(_ value: [UInt8]) -> [UInt8] { sealer.lookup("bot_value", file, value) }
}

extension AccountStore {
    /// Returns the sealer of a bot's database file in this account.
    package func valueSealer(file: String) -> ValueSealer { ValueSealer(sealer, file: file) }
}
