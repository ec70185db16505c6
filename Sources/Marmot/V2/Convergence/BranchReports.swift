package import MLS
package import Nostr

extension CommitReport {
    /// Describes a commit of the second generation that is now part of the selected history.
    ///
    /// - Parameters:
    ///   - event: the event that carried it, and `time` that event's time.
    ///   - account: this member.
    ///   - rolledBackFrom: the former tip's epoch, if the commit is the first one after undone commits.
    package init(
        _ commit: AppliedCommit<ComponentBranch>, in event: EventID, at time: UnixTime, for account: PublicKey,
        before: GroupData, after: GroupData, rolledBackFrom: Epoch?
    ) {
        var left: [PublicKey] = []
        for row in commit.change.rows {
            if case .memberLeft(let member) = row.change { left.append(member) }
        }
        self.init(
            committer: commit.committer, isOwn: commit.isOwn, epochBefore: commit.epoch.earlier(by: 1),
            epochAfter: commit.epoch, added: commit.change.added, removed: commit.change.removed, left: left,
            before: before, after: after, removedSelf: commit.change.removed.contains(account), event: event,
            createdAt: time, rolledBackFrom: rolledBackFrom, displacedOwnCommit: false)
    }
}

extension ReceivedMessage {
    /// Describes an application message of the second generation, and the event that carried it.
    package init(_ message: AuthenticatedMessage, _ payload: AppPayload, in event: EventID) {
        self.init(
            rumor: payload.event, id: payload.id, epoch: message.epoch, leaf: message.leaf, wrapper: event)
    }
}

extension GroupData {
    /// Describes the state of a group of the second generation; pictures have another form there, so there is none here.
    package init(_ state: ComponentState) {
        self.init(
            nostrGroupID: state.routing.nostrGroupID, name: state.profile.name,
            description: state.profile.description, admins: state.admins.admins, relays: state.routing.relayURLs,
            disappearingSeconds: state.retentionSeconds == 0 ? nil : state.retentionSeconds)
    }
}
