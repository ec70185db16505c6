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
