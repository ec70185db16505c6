import Foundation
package import Nostr

extension NIP49.Password {
    /// Creates a password from typed text, normalised to Unicode NFKC as NIP-49 specifies, so that it does not depend
    /// on the keyboard.
    package init(_ text: String) {
        self.init(normalizedUTF8: Array(text.precomposedStringWithCompatibilityMapping.utf8))
    }
}

extension AppCoreError {
    /// Maps a credential's error to the reason why it cannot be used; reveals nothing about the key.
    init(credential error: NostrError) {
        switch error.code {
        case .wrongPassword: self.init(.wrongPassword, "\(error.message)")
        case .tooCostly: self.init(.badCredential, "the encrypted key cannot be opened: \(error.message)")
        default: self.init(.badCredential, "expected an encrypted key of NIP-49 (ncryptsec1…): \(error.message)")
        }
    }
}
