import Foundation
public import Nostr

extension NIP49.Password {
    /// A password as somebody types it: brought into Unicode's normalisation form NFKC, as the NIP asks, so that it is
    /// the same from every keyboard.
    public init(_ text: String) {
        self.init(normalizedUTF8: Array(text.precomposedStringWithCompatibilityMapping.utf8))
    }
}

extension AppCoreError {
    /// Why a key or encrypted key cannot be used; nothing of it is said.
    init(credential error: NostrError) {
        switch error.code {
        case .wrongPassword: self.init(.wrongPassword, "\(error.message)")
        case .tooCostly: self.init(.badCredential, "the encrypted key cannot be opened: \(error.message)")
        default: self.init(.badCredential, "this is no ncryptsec1… of NIP-49: \(error.message)")
        }
    }
}
