/// The secrets of one epoch (RFC 9420 §8, table 4).
struct EpochSecrets: Sendable {
    let senderData: Secret
    let encryption: Secret
    let exporter: Secret
    let external: Secret
    let confirmation: Secret
    let membership: Secret
    let resumption: Secret
    let authenticator: Secret
    let initSecret: Secret

    init(_ suite: CipherSuite, epochSecret: Secret) {
        self.senderData = suite.deriveSecret(epochSecret, "sender data")
        self.encryption = suite.deriveSecret(epochSecret, "encryption")
        self.exporter = suite.deriveSecret(epochSecret, "exporter")
        self.external = suite.deriveSecret(epochSecret, "external")
        self.confirmation = suite.deriveSecret(epochSecret, "confirm")
        self.membership = suite.deriveSecret(epochSecret, "membership")
        self.resumption = suite.deriveSecret(epochSecret, "resumption")
        self.authenticator = suite.deriveSecret(epochSecret, "authentication")
        self.initSecret = suite.deriveSecret(epochSecret, "init")
    }

    /// Restores the secrets that a stored epoch still needs; the encryption secret exists only in the secret tree.
    init(stored secrets: [Secret]) throws(MLSError) {
        guard secrets.count == 8 else {
            throw MLSError(.invalidStoredForm, "a stored epoch has \(secrets.count) secrets, not 8")
        }
        self.init(
            senderData: secrets[0], exporter: secrets[1], external: secrets[2], confirmation: secrets[3],
            membership: secrets[4], resumption: secrets[5], authenticator: secrets[6], initSecret: secrets[7])
    }

    /// These secrets without the encryption secret: keeping it would keep every message key of the epoch.
    var withoutEncryption: EpochSecrets {
        EpochSecrets(
            senderData: self.senderData, exporter: self.exporter, external: self.external,
            confirmation: self.confirmation, membership: self.membership, resumption: self.resumption,
            authenticator: self.authenticator, initSecret: self.initSecret)
    }

    /// Secrets of an epoch that this member is out of.
    ///
    /// - Parameter filler: takes the place of all but the authenticator.
    init(erased filler: Secret, authenticator: Secret) {
        self.init(
            senderData: filler, exporter: filler, external: filler, confirmation: filler, membership: filler,
            resumption: filler, authenticator: authenticator, initSecret: filler)
    }

    /// Whether the secrets were replaced by a filler; those of an epoch all differ.
    var isErased: Bool { self.initSecret == self.exporter }

    private init(
        senderData: Secret, exporter: Secret, external: Secret, confirmation: Secret, membership: Secret,
        resumption: Secret, authenticator: Secret, initSecret: Secret
    ) {
        self.senderData = senderData
        self.encryption = .empty
        self.exporter = exporter
        self.external = external
        self.confirmation = confirmation
        self.membership = membership
        self.resumption = resumption
        self.authenticator = authenticator
        self.initSecret = initSecret
    }

    /// The secrets in the order that ``init(stored:)`` expects.
    var stored: [Secret] {
        [
            self.senderData, self.exporter, self.external, self.confirmation, self.membership, self.resumption,
            self.authenticator, self.initSecret,
        ]
    }
}
