import TLSCodec

extension MLSGroup {
    /// Creates the Welcome for all members that the commit added (RFC 9420 §12.4.3.1); `self` is the group after the
    /// commit.
    func welcome(
        for state: ProvisionalState, path: RatchetTree.NewPath?, _ epoch: NextEpoch, _ preSharedKeys: [PreSharedKey],
        includesTree: Bool, using rng: inout some RandomNumberGenerator, _ work: any WorkExecutor
    ) throws -> [UInt8]? {
        guard !state.addedPackages.isEmpty else { return nil }
        let suite = self.cipherSuite
        let groupInfo = try self.groupInfo(includesTree: includesTree)
        let key = Welcome.key(suite, welcomeSecret: epoch.schedule.welcomeSecret)
        let encryptedGroupInfo = try suite.aead.seal(
            groupInfo.tlsEncoded(), key: key.key, nonce: key.nonce.copyBytes(), additionalData: [])
        let hpke = HPKE(suite)
        let info = hpke.encryptContext(label: "Welcome", context: encryptedGroupInfo)
        // V12.4.1-2: The PSKs of a Welcome are in the order of the proposals.
        let identifiers = preSharedKeys.map(\.id)
        // V12.4.1-3: The Welcome covers every new member.
        let sealings = zip(state.changes.added, state.addedPackages).map { member, package in
            let groupSecrets = GroupSecrets(
                joinerSecret: epoch.schedule.joinerSecret,
                pathSecret: path.flatMap { self.pathSecret(for: member.index, $0) }, psks: identifiers)
            return HPKE.Sealing(plaintext: groupSecrets.encoded(), publicKey: package.initKey)
        }
        let sealed = try hpke.seal(sealings, info: info, using: &rng, work)
        let references = work.map(state.addedPackages) { $0.reference }
        let secrets = zip(references, sealed).map { reference, sealed in
            EncryptedGroupSecrets(newMember: reference, encryptedGroupSecrets: sealed)
        }
        return MLSMessage.welcome(
            Welcome(cipherSuite: suite, secrets: secrets, encryptedGroupInfo: encryptedGroupInfo)
        ).tlsEncoded()
    }

    /// Returns the path secret of the lowest path node above a new member.
    private func pathSecret(for index: LeafIndex, _ path: RatchetTree.NewPath) -> Secret? {
        path.path.firstIndex { $0.node.leafRange.contains(Int(index.rawValue)) }.map { path.pathSecrets[$0] }
    }

    /// Creates the signed description of this epoch (RFC 9420 §12.4.3).
    func groupInfo(includesTree: Bool) throws -> GroupInfo {
        let tree = includesTree ? [Extension(type: .ratchetTree, data: self.tree.encoded())] : []
        return try GroupInfo(
            context: self.context, extensions: tree, confirmationTag: self.confirmationTag,
            signer: self.own.leafIndex, signedBy: self.signatureKey)
    }
}
