import LiveTesting
import TLSCodec
import Testing

@testable import MLS

/// Key packages that violate RFC 9420 §10.1 or §7.3.
struct KeyPackageRefusals {
    private var party: Party
    private let signatureKey: SignaturePrivateKey
    private let initKey, encryptionKey: HPKEPrivateKey

    init() throws {
        self.party = try Party(1)
        self.signatureKey = try .generate(.x25519AES128GCM, using: &self.party.rng)
        self.initKey = try .generate(.x25519AES128GCM, using: &self.party.rng)
        self.encryptionKey = try .generate(.x25519AES128GCM, using: &self.party.rng)
    }

    private func leaf(
        encryptionKey: [UInt8]? = nil, capabilities: Capabilities = Capabilities(cipherSuites: [1]),
        source: LeafNodeSource = .keyPackage(Party.lifetime), extensions: [Extension] = [],
        credential: Credential = .basic(identity: [1])
    ) throws -> LeafNode {
        try LeafNode(
            encryptionKey: encryptionKey ?? self.encryptionKey.publicKey, credential: credential,
            capabilities: capabilities, source: source, extensions: extensions,
            position: .init(groupID: [], leafIndex: LeafIndex(0)), signedBy: self.signatureKey)
    }

    private func package(
        _ leaf: LeafNode, suite: CipherSuite = .x25519AES128GCM, initKey: [UInt8]? = nil, extensions: [Extension] = []
    ) throws -> KeyPackage {
        try KeyPackage(
            cipherSuite: suite, initKey: initKey ?? self.initKey.publicKey, leafNode: leaf, extensions: extensions,
            signedBy: self.signatureKey)
    }

    private func expect(
        _ code: MLSError.Code, sourceLocation: SourceLocation = #_sourceLocation, _ package: () throws -> KeyPackage
    ) {
        expectError(code, sourceLocation: sourceLocation) { _ = try package().verified(now: Party.now) }
    }

    @Test func s10_1_validKeyPackageRoundTrips() throws {
        let package = try self.package(self.leaf())
        #expect(try KeyPackage(tlsEncoded: package.tlsEncoded()).verified(now: Party.now).keyPackage == package)
    }

    @Test func s7_2_enforcesBothLifetimeBounds() throws {
        let package = try self.package(self.leaf())
        for now in [Party.lifetime.notBefore, Party.lifetime.notAfter] { _ = try package.verified(now: now) }
        for now in [Party.lifetime.notAfter + 1, .max] {
            expectError(.expired) { _ = try package.verified(now: now) }
        }
        for now in [Party.lifetime.notBefore - 1, 0] {
            expectError(.notYetValid) { _ = try package.verified(now: now) }
        }
        _ = try package.verified(now: nil)
    }

    @Test func s10_1_refusesUnsupportedSuite() throws {
        self.expect(.unsupportedCipherSuite) { try self.package(self.leaf(), suite: CipherSuite(rawValue: 4)) }
        self.expect(.invalidLeafNode) { try self.package(self.leaf(capabilities: Capabilities(cipherSuites: [2]))) }
        self.expect(.invalidLeafNode) {
            try self.package(self.leaf(capabilities: Capabilities(versions: [2], cipherSuites: [1])))
        }
    }

    @Test func s10_1_initKeyMustDifferFromEncryptionKey() throws {
        self.expect(.invalidKeyPackage) { try self.package(self.leaf(), initKey: self.encryptionKey.publicKey) }
    }

    @Test func s10_1_refusesInvalidKeys() throws {
        let zero = [UInt8](repeating: 0, count: 32)
        self.expect(.invalidKey) { try self.package(self.leaf(), initKey: zero) }
        self.expect(.invalidKey) { try self.package(self.leaf(), initKey: [1, 2, 3]) }
        self.expect(.invalidKey) { try self.package(self.leaf(encryptionKey: zero)) }
    }

    @Test func s7_3_requiresKeyPackageLeafSource() throws {
        self.expect(.invalidKeyPackage) { try self.package(self.leaf(source: .update)) }
        self.expect(.invalidKeyPackage) { try self.package(self.leaf(source: .commit(parentHash: []))) }
    }

    @Test func s7_3_capabilitiesMustListExtensionsAndCredential() throws {
        let entry = Extension(type: .init(rawValue: 0xF2EE), data: [])
        let capable = Capabilities(cipherSuites: [1], extensions: [0xF2EE])
        self.expect(.invalidLeafNode) { try self.package(self.leaf(extensions: [entry])) }
        self.expect(.invalidKeyPackage) { try self.package(self.leaf(), extensions: [entry]) }
        self.expect(.invalidLeafNode) { try self.package(self.leaf(credential: .x509(certificates: [[1]]))) }
        _ = try self.package(self.leaf(capabilities: capable, extensions: [entry]), extensions: [entry])
            .verified(now: Party.now)
    }

    @Test func s13_4_refusesRepeatedExtensionType() throws {
        let entry = Extension(type: .applicationID, data: [])
        self.expect(.invalidKeyPackage) { try self.package(self.leaf(), extensions: [entry, entry]) }
        self.expect(.invalidLeafNode) { try self.package(self.leaf(extensions: [entry, entry])) }
    }

    @Test func s10_verifiesBothSignatures() throws {
        let package = try self.package(self.leaf())
        var outer = package.tlsEncoded()
        outer[outer.count - 1] ^= 1
        self.expect(.badSignature) { try KeyPackage(tlsEncoded: outer) }
        var rng = SplitMix64(seed: 99)
        let other = try SignaturePrivateKey.generate(.x25519AES128GCM, using: &rng)
        var inner = try self.leaf().tlsEncoded()
        inner[inner.count - 1] ^= 1
        self.expect(.badSignature) { try self.package(LeafNode(tlsEncoded: inner)) }
        self.expect(.badSignature) {
            try KeyPackage(
                cipherSuite: .x25519AES128GCM, initKey: self.initKey.publicKey, leafNode: self.leaf(), extensions: [],
                signedBy: other)
        }
    }

    @Test func bundleRoundTrips() throws {
        var party = self.party
        for suite in CipherSuite.supported {
            let key = try SignaturePrivateKey.generate(suite, using: &party.rng)
            let bundle = try KeyPackageBundle.generate(
                suite, credential: .basic(identity: [1]), capabilities: Capabilities(cipherSuites: [suite.rawValue]),
                lifetime: Party.lifetime, signatureKey: key, using: &party.rng)
            let restored = try KeyPackageBundle(stored: bundle.stored)
            #expect(restored.keyPackage == bundle.keyPackage)
            #expect(restored.initKey.publicKey == bundle.initKey.publicKey)
            #expect(restored.encryptionKey.secret == bundle.encryptionKey.secret)
            #expect(restored.signatureKey.secret == bundle.signatureKey.secret)
        }
    }

    @Test func refusesDamagedBundle() throws {
        var party = self.party
        let bytes = try party.bundle("somebody").stored.copyBytes()
        for count in [0, 1, 2, 3, bytes.count - 33, bytes.count - 1] {
            expectError(.invalidStoredForm) { _ = try KeyPackageBundle(stored: Secret(bytes[..<count])) }
        }
        expectError(.invalidStoredForm) { _ = try KeyPackageBundle(stored: Secret(bytes + [0])) }
        expectError(.invalidStoredForm) { _ = try KeyPackageBundle(stored: Secret([0, 2] + bytes[2...])) }
        // A private key that does not match its public key.
        var changed = bytes
        changed[bytes.count - 1] ^= 1
        expectError(.invalidStoredForm) { _ = try KeyPackageBundle(stored: Secret(changed)) }
    }

    @Test func refusesKeysOfAnotherKeyPackage() throws {
        var party = self.party
        let (one, other) = (try party.bundle("one"), try party.bundle("other"))
        let mixed = KeyPackageBundle(
            keyPackage: one.keyPackage, initKey: one.initKey, encryptionKey: other.encryptionKey,
            signatureKey: one.signatureKey)
        expectError(.invalidKey) { _ = try MLSGroup.create(groupID: [1], member: mixed, using: &party.rng) }
    }
}
