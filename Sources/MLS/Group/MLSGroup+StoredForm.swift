import TLSCodec

/// Stored form: records that change independently (see ``GroupRecord``). Equal states have equal bytes. Version 2 of the
/// record `core` ends in the group's rules; version 1 stands for the default rules.
extension MLSGroup {

    /// Returns the changes since the last call and resets change tracking.
    ///
    /// The caller must write them in one transaction. If that fails, drop this value and restore the group from the
    /// store.
    public mutating func drainChanges() -> GroupStorageChanges {
        var names = self.changedRecords
        let changedNodes = self.tree.changedNodes
        for index in changedNodes ?? Set(self.tree.nodes.indices) { names.insert(.node(index)) }
        if changedNodes == nil { names.formUnion(self.allRecords) }
        var records: [GroupRecord: Secret?] = [:]
        for name in names {
            let content = self.content(of: name)
            if content != nil || changedNodes != nil { records[name] = .some(content) }
        }
        self.changedRecords = []
        self.tree.markStored()
        return GroupStorageChanges(replacesAll: changedNodes == nil, records: records)
    }

    /// Makes the next ``drainChanges()`` return everything, after an older value replaced this one.
    public mutating func markAllChanged() {
        self.tree.markAllChanged()
    }

    /// Marks records as changed; unnecessary for a group that was never stored, since all of it will be returned
    /// anyway.
    mutating func note(_ records: some Sequence<GroupRecord>) {
        guard self.tree.changedNodes != nil else { return }
        self.changedRecords.formUnion(records)
    }

    mutating func markEpochChanged() {
        guard self.tree.changedNodes != nil else { return }
        self.note(self.messages.records)
        self.note([.core])
    }

    /// The names of all records except the tree's nodes.
    var allRecords: Set<GroupRecord> {
        var names: Set<GroupRecord> = [.core]
        for messages in [self.messages] + self.past { names.formUnion(messages.records) }
        return names
    }

    func messages(of epoch: Epoch) -> EpochMessages? {
        epoch == self.epoch ? self.messages : self.past.first { $0.epoch == epoch }
    }

    /// Returns a record's content; nil if the record does not exist now.
    func content(of record: GroupRecord) -> Secret? {
        var writer = TLSWriter(capacity: 512)
        switch record {
        case .core: self.encodeCore(to: &writer)
        case .node(let index):
            guard index < self.tree.nodes.count, !self.tree.nodes[index].isBlank else { return nil }
            RatchetTree.encode(self.tree.nodes[index], to: &writer)
        case .epoch(let epoch):
            guard let messages = self.messages(of: epoch) else { return nil }
            messages.encodeHeader(to: &writer)
        case .treeSecret(let epoch, let node):
            guard let secret = self.messages(of: epoch)?.secretTree.nodeSecrets[node] else { return nil }
            writer.writeSecret(secret)
        case .ratchets(let epoch, let leaf):
            guard let ratchets = self.messages(of: epoch)?.secretTree.ratchets[leaf] else { return nil }
            ratchets.encode(to: &writer)
        }
        return writer.takeSecret()
    }

    private func encodeCore(to writer: inout TLSWriter) {
        let rules = self.configuration.rules
        writer.write(UInt16(rules == GroupRules() ? 1 : 2))
        self.context.encode(to: &writer)
        writer.write(UInt32(self.tree.shape.leafCount))
        self.own.leafIndex.encode(to: &writer)
        writer.writeSecret(self.own.leafKey.secret)
        writer.writeVector { writer in
            for (node, key) in self.own.pathKeys.sorted(by: { $0.key < $1.key }) {
                writer.write(UInt32(node))
                writer.writeSecret(key.secret)
            }
        }
        writer.writeSecret(self.signatureKey.secret)
        writer.writeVector { writer in
            for secret in self.secrets.stored { writer.writeSecret(secret) }
        }
        writer.writeOpaque(self.confirmationTag)
        writer.writeVector { writer in
            for messages in self.past { messages.epoch.encode(to: &writer) }
        }
        writer.writeVector { writer in
            for (epoch, secret) in self.pastResumptionSecrets {
                epoch.encode(to: &writer)
                writer.writeSecret(secret)
            }
        }
        writer.writeVector(self.proposals)
        writer.writeVector { writer in
            for keys in self.pendingLeafKeys {
                writer.writeSecret(keys.encryptionKey.secret)
                writer.writeSecret(keys.signatureKey.secret)
            }
        }
        writer.write(self.configuration.outOfOrderTolerance)
        writer.write(self.configuration.maximumForwardDistance)
        writer.write(UInt32(clamping: self.configuration.maximumPastEpochs))
        writer.write(UInt32(clamping: self.configuration.paddingSize))
        writer.write(UInt8(self.isReinitialized ? 1 : 0))
        if rules != GroupRules() { rules.encode(to: &writer) }
    }
}

extension GroupRules {
    /// Decodes the stored form; refuses values that no rule has.
    init(from reader: inout TLSReader) throws(TLSCodecError) {
        let start = reader.offset
        let handshakes = Handshakes(rawValue: try reader.readUInt8())
        let proposals = try reader.readUInt16Vector()
        let flags = try reader.readUInt8()
        let tolerances = Tolerances(rawValue: try reader.readUInt8())
        guard let handshakes, flags <= 3, tolerances.isSubset(of: .all) else {
            throw TLSCodecError(.invalidValue, offset: start, "the rules of the group have an unknown value")
        }
        self.init(
            handshakes: handshakes, proposals: Set(proposals), requiresComponents: flags & 1 != 0,
            keepsSignatureKey: flags & 2 != 0, tolerances: tolerances)
    }

    /// Encodes the stored form; rules are never on the wire.
    fileprivate func encode(to writer: inout TLSWriter) {
        writer.write(self.handshakes.rawValue)
        writer.writeVector(self.proposals.sorted())
        writer.write(UInt8((self.requiresComponents ? 1 : 0) | (self.keepsSignatureKey ? 2 : 0)))
        writer.write(self.tolerances.rawValue)
    }
}

extension MLSGroup.CachedProposal: TLSEncodable, TLSDecodable {
    init(from reader: inout TLSReader) throws(TLSCodecError) {
        self.reference = try reader.readOpaque()
        self.sender = try LeafIndex(from: &reader)
        self.proposal = try Proposal(from: &reader)
    }

    func encode(to writer: inout TLSWriter) {
        writer.writeOpaque(self.reference)
        self.sender.encode(to: &writer)
        self.proposal.encode(to: &writer)
    }
}

extension EpochMessages {
    /// The names of all records of this epoch.
    var records: Set<GroupRecord> {
        var names: Set<GroupRecord> = [.epoch(self.epoch)]
        for node in self.secretTree.nodeSecrets.keys { names.insert(.treeSecret(epoch: self.epoch, node: node)) }
        for leaf in self.secretTree.ratchets.keys { names.insert(.ratchets(epoch: self.epoch, leaf: leaf)) }
        return names
    }

    fileprivate func encodeHeader(to writer: inout TLSWriter) {
        writer.writeOpaque(self.context)
        writer.writeSecret(self.senderDataSecret)
        writer.write(UInt32(self.secretTree.shape.leafCount))
        writer.writeVector { writer in
            for (index, leaf) in self.replacedLeaves.sorted(by: { $0.key < $1.key }) {
                index.encode(to: &writer)
                writer.writeOptional(leaf)
            }
        }
    }
}

extension SecretTree.Change {
    /// Returns the names of the records that this change affects.
    func records(epoch: Epoch) -> Set<GroupRecord> {
        var names: Set<GroupRecord> = [.ratchets(epoch: epoch, leaf: self.leaf.rawValue)]
        for node in self.nodeSecrets.keys { names.insert(.treeSecret(epoch: epoch, node: node)) }
        return names
    }
}
