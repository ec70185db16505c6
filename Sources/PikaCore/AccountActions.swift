public import Nostr

/// The credential that an account logs in with.
public enum LoginCredential: Sendable, Hashable {
    /// A secret key, used in this process.
    case key(KeyPair)
    /// `ncryptsec1…` and its password (NIP-49).
    case encryptedKey(String, password: String)
    /// `bunker://…`: the key stays with a remote signer (NIP-46).
    case bunker(String)
    /// A `nostrconnect://…` invitation shown to the user of a remote signer, with the key of its client (NIP-46). The
    /// login waits until a signer accepts it.
    case invitation(NostrConnectURL, client: KeyPair)
    /// The encrypted key of the account that was logged in last, with its password.
    case storedKey(password: String)
}

/// Never shows any part of a credential, wherever an action that contains one is described or dumped.
extension LoginCredential: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The kind of credential, without its content.
    public var description: String {
        switch self {
        case .key: "key (not shown)"
        case .encryptedKey: "encryptedKey (not shown)"
        case .bunker: "bunker (not shown)"
        case .invitation: "invitation (not shown)"
        case .storedKey: "storedKey (not shown)"
        }
    }
    /// Same as ``description``.
    public var debugDescription: String { self.description }
    /// An empty mirror, so that dumps show no part of the credential.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Fields of a profile to write; nil keeps a field, an empty string removes it.
public struct ProfileDraft: Sendable, Hashable {
    /// The `name` field (NIP-01).
    public var name: String?
    /// The `about` field: a short text about the account (NIP-01).
    public var about: String?
    /// The picture's URL, for this account's public profile.
    public var picture: String?
    /// A picture to encrypt and upload, for a group profile.
    public var image: OutgoingImage?

    /// Creates a draft; by default it changes nothing.
    public init(name: String? = nil, about: String? = nil, picture: String? = nil, image: OutgoingImage? = nil) {
        self.name = name
        self.about = about
        self.picture = picture
        self.image = image
    }
}
