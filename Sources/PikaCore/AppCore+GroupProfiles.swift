import Marmot
package import Nostr

extension AppCore {
    /// Returns a member's profile for a chat's group only; nil if none is known.
    ///
    /// Throws `AppCoreError.Code.unknownChat`.
    package func groupProfile(chatID: ChatID, publicKey: PublicKey) throws -> AppState.Profile? {
        try self.profiles(ofChat: chatID)[publicKey]?.shown
    }

    /// Returns all known profiles that members have for a chat's group only, newest first.
    ///
    /// Throws `AppCoreError.Code.unknownChat`.
    package func groupProfiles(chatID: ChatID) throws -> [AppState.Profile] {
        try self.profiles(ofChat: chatID).values.map(\.shown).sorted {
            ($0.createdAt ?? 0, $1.publicKey) > ($1.createdAt ?? 0, $0.publicKey)
        }
    }

    /// Downloads and decrypts the picture of a member's group profile; nil if it has none.
    ///
    /// A picture without its key is downloaded unencrypted, as older clients send them. Throws
    /// `AppCoreError.Code.unknownChat`, `AppCoreError.Code.badAddress` and `AppCoreError.Code.mediaFailed`.
    package func groupProfileImage(chatID: ChatID, publicKey: PublicKey) async throws -> [UInt8]? {
        guard let profile = try self.profiles(ofChat: chatID)[publicKey], let address = profile.shown.picture else {
            return nil
        }
        guard let picture = profile.picture else {
            return try await self.files.download([try MediaURL(address)]) { $0 }
        }
        let reference: MediaReference
        let keys: [MediaKey]
        do {
            reference = try MediaReference(picture.reference)
            keys = try picture.keys.map { key throws(MarmotError) in try MediaKey(stored: key) }
        } catch { throw AppCoreError(.corruptState, "a stored picture cannot be read: \(error.message)") }
        return try await self.files.download([try MediaURL(reference.url)]) {
            try EncryptedMedia.decrypt($0, of: reference, keys: keys)
        }
    }

    private func profiles(ofChat chatID: ChatID) throws(AppCoreError) -> [PublicKey: GroupProfile] {
        self.mediaLookup.profiles[try self.mediaLookup.groupID(ofChat: chatID)] ?? [:]
    }
}
