import TLSCodec

/// Derivation of an epoch's secrets (RFC 9420 §8).
struct KeySchedule {
    let joinerSecret: Secret
    let welcomeSecret: Secret
    let secrets: EpochSecrets
    /// The encryption secret, which becomes the root of the secret tree and is stored nowhere else.
    var encryptionSecret: Secret { self.secrets.encryption }

    /// Derives the next epoch as a member; `context` is the new epoch's.
    init(
        _ suite: CipherSuite, initSecret: Secret, commitSecret: Secret, pskSecret: Secret, context: [UInt8]
    ) {
        // V8-1: Secrets are derived as specified.
        let extracted = suite.hash.extract(salt: initSecret, inputKeyMaterial: commitSecret)
        let joiner = suite.expandWithLabel(extracted, "joiner", context: context, length: suite.hashLength)
        self.init(suite, joinerSecret: joiner, pskSecret: pskSecret, context: context)
    }

    /// Derives the epoch as a joining member.
    init(_ suite: CipherSuite, joinerSecret: Secret, pskSecret: Secret, context: [UInt8]) {
        self.joinerSecret = joinerSecret
        let member = suite.hash.extract(salt: joinerSecret, inputKeyMaterial: pskSecret)
        self.welcomeSecret = suite.deriveSecret(member, "welcome")
        self.secrets = EpochSecrets(
            suite,
            epochSecret: suite.expandWithLabel(member, "epoch", context: context, length: suite.hashLength))
    }

    /// Derives only the welcome secret, which a joining member needs before it knows the context.
    static func welcomeSecret(_ suite: CipherSuite, joinerSecret: Secret, pskSecret: Secret) -> Secret {
        suite.deriveSecret(suite.hash.extract(salt: joinerSecret, inputKeyMaterial: pskSecret), "welcome")
    }
}

extension CipherSuite {
    /// Returns MLS-Exporter(label, context, length) of RFC 9420 §8.5.
    func export(_ exporterSecret: Secret, label: [UInt8], context: [UInt8], length: Int) -> Secret {
        // Labels are bytes, because the official vectors use labels that are not valid text.
        let derived = self.expandWithLabel(exporterSecret, label: label, context: [], length: self.hashLength)
        return self.expandWithLabel(derived, "exported", context: self.hash.digest(context), length: length)
    }
}
