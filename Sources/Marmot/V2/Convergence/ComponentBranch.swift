package import MLS
package import Nostr
import TLSCodec

/// Group of the second generation as a state of ``GroupConvergence``: a value of ``ComponentGroup``, and whether this
/// member is still in it.
package struct ComponentBranch: BranchState {
    /// The group; after the removal of this member its last epoch, in which earlier messages can still be read.
    package private(set) var group: ComponentGroup
    /// This member's part in the group.
    package let standing: BranchStanding

    /// The epoch; after this member's removal the one that it cannot enter.
    package var epoch: Epoch {
        self.standing == .member || self.group.lifecycle == .disbanded
            ? self.group.epoch : self.group.epoch.later(by: 1)
    }

    /// The state of a member.
    package init(_ group: ComponentGroup) {
        self.init(group, standing: group.lifecycle == .disbanded ? .disbanded : .member)
    }

    init(_ group: ComponentGroup, standing: BranchStanding) {
        self.group = group
        self.standing = standing
    }

    /// Gives access to the group, to seal messages and propose departures.
    package mutating func withGroup<Result, Failure: Error>(
        _ body: (inout ComponentGroup) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(&self.group)
    }

    /// Changes by a commit, as far as the application needs them; small, so that it can be kept and stored.
    package struct Change: Sendable, Hashable {
        /// Rows for the group's history, with the accounts that made the changes.
        package let rows: [JudgedCommit.Row]
        /// Accounts that joined.
        package let added: [PublicKey]
        /// Accounts without a leaf after the commit, including those that left.
        package let removed: [PublicKey]
        /// Whether the public id or the relays changed: subscriptions must follow.
        package let changesRouting: Bool

        init(rows: [JudgedCommit.Row], added: [PublicKey], removed: [PublicKey], changesRouting: Bool) {
            self.rows = rows
            self.added = added
            self.removed = removed
            self.changesRouting = changesRouting
        }

        init(_ commit: JudgedCommit) {
            self.rows = commit.rows
            self.added = commit.added
            self.removed = commit.removed
            self.changesRouting = commit.before.routing != commit.after.routing
        }
    }

    /// Returns the step of a commit by this member, to be staged.
    package static func step(of commit: StagedComponentCommit, from parent: ComponentBranch) -> BranchStep<Self> {
        parent.step(commit.judged, next: ComponentBranch(commit.next))
    }

    private func step(_ judged: JudgedCommit, next: ComponentBranch) -> BranchStep<Self> {
        BranchStep(
            state: next, priority: judged.priority, committer: judged.committer, change: Change(judged),
            proposals: Set(judged.references.compactMap { self.group.proposalDigests[$0] }))
    }

    // MARK: Commits and proposals

    /// Returns the state after a commit. The lifetimes of added key packages were checked by the event's time when the
    /// event was opened.
    package func applying(
        _ commit: [UInt8], proposals: [ConvergenceInput]
    ) throws(BranchRefusal) -> BranchStep<ComponentBranch> {
        guard self.standing == .member else { throw BranchRefusal.foreign }
        let message = try self.message(commit)
        do throws(BranchRefusal) { return try self.applying(message) } catch {
            // Proposals are searched only for an authentic commit.
            guard error == .missingProposal else { throw error }
        }
        var parent = self
        parent.admit(message.references, among: proposals)
        return try parent.applying(message)
    }

    /// Returns the state after a commit whose proposals this one has.
    private func applying(_ message: GroupMessage) throws(BranchRefusal) -> BranchStep<ComponentBranch> {
        let judged: JudgedCommit
        do throws(HandshakeRefusal) { judged = try self.group.judging(message, now: nil) } catch {
            throw self.refusal(error, of: message)
        }
        guard let next = judged.next else {
            let standing: BranchStanding = judged.disbands ? .disbanded : .removed
            return self.step(judged, next: ComponentBranch(self.group, standing: standing))
        }
        return self.step(judged, next: ComponentBranch(next))
    }

    /// Returns this state with the proposed departures among the proposals of its epoch, so that they can be committed.
    package func admittingDepartures(among proposals: [ConvergenceInput]) -> ComponentBranch {
        var result = self
        for proposal in proposals {
            guard let message = try? self.message(proposal.bytes) else { continue }
            var candidate = result.group
            guard let admitted = try? candidate.admit(message), admitted.isDeparture else { continue }
            result.group = candidate
        }
        return result
    }

    /// Keeps the proposals with these ProposalRefs that this state accepts.
    private mutating func admit(_ references: [[UInt8]], among proposals: [ConvergenceInput]) {
        var missing = Set(references).subtracting(self.group.mls.pendingProposals.map(\.reference))
        for proposal in proposals where !missing.isEmpty {
            // Only the named ones are verified: a flood of proposals must not make every commit expensive.
            guard let message = try? self.message(proposal.bytes),
                let reference = self.group.mls.statedReference(of: message.message), missing.contains(reference)
            else { continue }
            var candidate = self.group
            guard (try? candidate.admit(message)) != nil else { continue }
            self.group = candidate
            missing.remove(reference)
        }
    }

    /// Authenticates and judges a proposal of this epoch.
    package func judging(_ proposal: [UInt8]) throws(BranchRefusal) -> AdmittedProposal {
        guard self.standing == .member else { throw BranchRefusal.foreign }
        let message = try self.message(proposal)
        var group = self.group
        do throws(HandshakeRefusal) { return try group.admit(message) } catch {
            throw self.refusal(error, of: message)
        }
    }

    /// Returns the account of the leaf that a proposal names as its sender.
    package func statedProposer(of proposal: [UInt8]) -> PublicKey? {
        (try? self.message(proposal))?.statedSender.flatMap { self.group.mls.member($0)?.statedIdentity }
    }

    // MARK: Messages

    /// Returns the author of an application message; its key stays.
    package func author(of bytes: [UInt8]) throws(BranchRefusal) -> PublicKey {
        let message = try self.message(bytes)
        do throws(MLSError) { return try self.group.reading(message).sender } catch {
            var copy = self
            throw copy.messageRefusal(error, of: message)
        }
    }

    /// Decrypts an application message, and deletes its key; also that of a message that a copy of this member sent.
    package mutating func open(_ bytes: [UInt8]) throws(BranchRefusal) -> OpenedMessage<AuthenticatedMessage> {
        let message = try self.message(bytes)
        do throws(MLSError) {
            let received = try self.group.receive(message)
            return OpenedMessage(author: received.sender, message: received)
        } catch { throw self.messageRefusal(error, of: message) }
    }

    /// Returns this value without the message keys that `other` has used.
    package func withoutKeys(usedBy other: ComponentBranch) -> ComponentBranch {
        ComponentBranch(self.group.withoutKeys(consumedBy: other.group), standing: self.standing)
    }

    /// Deletes the message secrets of the epochs before `epoch`.
    package mutating func deleteMessageSecrets(before epoch: Epoch) {
        self.group.deleteMessageSecrets(before: epoch)
    }

    /// Deletes all secrets of the group.
    package mutating func eraseSecrets() { self.group.eraseSecrets() }

    // MARK: Refusals

    private func message(_ bytes: [UInt8]) throws(BranchRefusal) -> GroupMessage {
        do throws(MarmotError) { return try GroupMessage(bytes, of: self.group.groupID) } catch {
            throw BranchRefusal.invalid(Refusal(error))
        }
    }

    /// Classifies an application message that was not read, and uses up its key if a copy of this member sent it.
    private mutating func messageRefusal(_ error: MLSError, of message: GroupMessage) -> BranchRefusal {
        switch error.code {
        // Anyone who knows the epoch can name this member as the sender; only key and signature prove it. This value has
        // used the keys of the messages that it sent.
        case .ownMessage: self.group.consumeOwnKey(of: message) ? .own : .consumed
        case .keyConsumed: .consumed
        default: .foreign
        }
    }

    private func refusal(_ refusal: HandshakeRefusal, of message: GroupMessage) -> BranchRefusal {
        switch refusal {
        case .notApplicable: .foreign
        case .missingProposal: .missingProposal
        // Anyone who knows the epoch can name this member as the sender; only its signature proves it.
        case .own: self.group.mls.isSignedByOwnLeaf(message.message) ? .own : .foreign
        case .invalid(let error): .invalid(Refusal(error))
        case .forbidden(let violation):
            .invalid(Refusal(violation.error.code, "\(violation.rule.rawValue): \(violation.error.message)"))
        case .tooMany: .invalid(Refusal(.tooLarge, refusal.description))
        }
    }
}

extension ConvergenceInput {
    /// Describes an opened message, which was decoded and hashed before.
    package init(_ message: GroupMessage) {
        let kind: Kind =
            switch message.content {
            case .commit: .commit
            case .proposal: .proposal
            case .application: .application
            }
        self.init(id: message.digest, kind: kind, epoch: message.epoch, bytes: message.bytes)
    }
}

// struct {
//     uint16 version = 1;
//     uint8 standing;                   0 member, 1 removed, 2 disbanded
//     opaque group_header<V>;
// } header

/// Stored form, with the records of the group.
extension ComponentBranch {
    static let standings: [BranchStanding] = [.member, .removed, .disbanded]

    /// The complete stored form; the caller must seal it.
    package var part: StoredGroupPart { StoredGroupPart(header: self.header, records: self.group.mls.records) }

    /// The stored form without the MLS records.
    var header: Secret {
        let header = self.group.header
        var writer = TLSWriter(capacity: header.count + 8)
        writer.write(UInt16(1))
        writer.write(UInt8(Self.standings.firstIndex(of: self.standing) ?? 0))
        writer.writeSecret(header)
        return writer.takeSecret()
    }

    /// Reads the version and the standing, with which all stored forms begin.
    static func standing(from reader: inout TLSReader) throws(TLSCodecError) -> BranchStanding {
        let start = reader.offset
        let version = try reader.readUInt16()
        let number = Int(try reader.readUInt8())
        guard version == 1, self.standings.indices.contains(number) else {
            throw TLSCodecError(
                .invalidValue, offset: start, "expected version 1 and standing 0 to 2, found \(version) and \(number)")
        }
        return self.standings[number]
    }

    /// Restores a stored state; throws `MarmotError.Code.badStoredForm`.
    package init(_ stored: StoredGroupPart, account: PublicKey) throws(MarmotError) {
        let standing: BranchStanding
        let header: Secret
        do throws(TLSCodecError) {
            (standing, header) = try stored.header.decode {
                (reader: inout TLSReader) throws(TLSCodecError) -> (BranchStanding, Secret) in
                (try Self.standing(from: &reader), try reader.readSecret())
            }
        } catch { throw MarmotError(.badStoredForm, "state of a branch: \(error)") }
        self.init(
            try ComponentGroup(StoredGroupPart(header: header, records: stored.records), account: account),
            standing: standing)
    }
}
