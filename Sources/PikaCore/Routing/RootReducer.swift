import MLS
import Marmot
import Nostr

extension CoreModel {
    /// Applies one input to the model; `step` receives the changes to store and the effects to perform.
    mutating func reduce(_ input: CoreInput, _ step: inout CoreStep) {
        guard self.failure == nil else { return }
        switch input {
        case .started: self.start(&step)
        case .action(let action, let request): self.act(action, request, &step)
        case .command(let action, let request, let id): self.act(action, request, reportedAs: id, &step)
        case .relay(let update): self.receiveUpdate(update, &step)
        case .published(let row, let report): self.receivePublishReport(report, row: row, &step)
        case .publishEnded(let row, let relays): self.endAttempt(row: row, relays: relays, &step)
        case .fetched(let purpose, let outcomes): self.receiveFetched(purpose, outcomes, &step)
        case .messagesLoaded(let messages, let opening, let reachedStart, let request):
            self.show(messages, opening: opening, reachedStart: reachedStart, request, &step)
        case .messageLoaded(let groupID, let id, let message, let request):
            self.retry(message, id, of: groupID, request, &step)
        case .downloaded(let file, let groupID, let result, let request):
            self.receiveDownloaded(file, of: groupID, result, request, &step)
        case .sentLoaded(let groupID, let messages): self.reseal(messages, of: groupID, &step)
        case .unsentLoaded(let groupID, let epoch, let messages):
            self.resealCopied(messages, of: groupID, upToEpoch: epoch, &step)
        case .withdrawnLoaded(let groupID, let points, let messages):
            self.receiveWithdrawn(messages, at: points, of: groupID, &step)
        case .nextExpiry(let time): self.chats.registerExpiry(time, &step)
        case .surplus(let rule, let count): self.deleteSurplus(rule, count, &step)
        case .handled(let inboxID, let effects): self.finish(inboxID, effects, &step)
        case .effects(let effects, let request):
            if !self.isDuplicate(nil, request, &step) {
                self.perform(effects, &step)
                self.finish(request, .done(chatID: nil), &step)
            }
        case .timer(.outbox):
            self.readForUnconfirmedCommits(&step)
            self.flushOutbox(&step)
        case .timer(.catchUp(let relay)):
            // A relay that has disconnected is read when it reconnects.
            let status = self.state.relays.first { $0.url == relay }
            if status?.connection == .connected, status?.isCaughtUp == false { self.catchUp(relay, &step) }
        case .timer(.leave(let groupID)): self.stopLingering(groupID, &step)
        case .timer(.rejoin(let groupID)): self.resolveRivals(of: groupID, &step)
        case .timer(.backlog(let groupID)): self.retryBacklog(of: groupID, &step)
        case .timer(.expiry): self.deleteExpired(&step)
        case .timer(.departures(let groupID)):
            self.commitDepartures(of: groupID, &step)
            self.approachDeparture(of: groupID, &step)
        case .timer(.settlement(let groupID)): self.endPass(of: groupID, &step)
        case .timer(.departureCommit(let groupID, _)): self.commitBranchDepartures(of: groupID, &step)
        case .timer(.clock): self.endClockCheck(&step)
        case .timer(.keyUpdates): self.renewDueKeys(&step)
        case .timer(.maintenance):
            self.readUnopenedBacklogs(&step)
            self.maintain(&step)
        case .timer(.welcomes(let delivery)): self.endDelivery(delivery, &step)
        case .uploaded(let operation, let result): self.receiveUploaded(operation, result, &step)
        case .timer(.retention): self.retain(&step)
        case .timer(.typing): self.endTyping(&step)
        case .timer(.backOff(let groupID)): self.endBackOff(of: groupID, &step)
        case .timer(.push): self.continuePush(&step)
        case .timer(.profiles): self.continueProfiles(&step)
        case .timer(.call(let id)): self.followCall(.timedOut(callID: id), &step)
        case .callMedia(let report): self.receiveCallMedia(report, &step)
        case .feed(let delivery, let answer): self.receive(delivery, answer: answer, &step)
        case .queryVitals(let number): self.queryVitals(number, &step)
        case .queryDeliveries(let number, let messages): self.queryDeliveries(number, messages, &step)
        case .quarantine(let order, let subject, let request): self.order(order, subject, request, &step)
        case .keyUsed(let job, let result): self.receiveKeyUse(job, result, &step)
        case .signerChallenge(let url): self.noteChallenge(url, &step)
        case .timer(.signer): self.askSigner(&step)
        }
        self.announceDueProfiles(&step)
        self.sharePushToken(&step)
        self.advanceDueIntents(&step)
    }

    /// Milliseconds between two runs of ``maintain(_:)``.
    private static let maintenanceInterval: Int64 = 21_600_000

    private mutating func start(_ step: inout CoreStep) {
        self.groups.resume(monotonicMilliseconds: step.monotonicMilliseconds)
        self.acceptRestore(&step)
        self.groups.storeMigratedChatIDs(&step)
        self.groups.noteCollisions(&step)
        self.completeReleases(&step)
        self.resumeLingering(&step)
        self.keyPackages.start(at: step.now)
        self.setEndpoints(&step)
        self.connectToRelays(&step)
        step.effects.append(.loadNextExpiry)
        self.subscribeToGiftWraps(&step)
        self.subscribeToGroups(&step)
        self.startFence(&step)
        self.trimWaiting(&step)
        self.resumeRivals(&step)
        for groupID in self.delivery.resealing { self.loadForReseal(of: groupID, &step) }
        self.inbox.dropSurplus(self.configuration.retention, &step)
        self.inbox.handOut(self.configuration.retention, &step)
        // Must follow the redelivery of stored events: an event opened earlier would be delivered twice.
        self.retryEarly(&step)
        if self.convergence.instance.isRestored { self.retireKeyPackages(&step) }
        self.resumeKeyTasks(&step)
        self.proveDevice(&step)
        if self.configuration.publishesKeyPackage {
            do { try self.publishKeyPackage(&step) } catch {
                step.effects.append(.note(.sendFailed(reason: "key package: \(error)")))
            }
        }
        self.endInterruptedActions(&step)
        self.startPush(&step)
        self.startDepartures(&step)
        self.startSettlement(&step)
        self.startRenewals(&step)
        self.endInterruptedCall(&step)
        self.flushOutbox(&step)
        self.maintain(&step)
    }

    /// Performs everything that falls due by time alone; repeated at an interval.
    private mutating func maintain(_ step: inout CoreStep) {
        self.rotateDueKeyPackage(&step)
        self.deleteExpiredKeyPackages(&step)
        self.invitations.expireRelays(&step)
        self.dropReachedInvites(&step)
        self.maintainPeople(&step)
        self.maintainPush(&step)
        self.delivery.expireLeftovers(&step)
        self.endLostMessages(&step)
        self.retain(&step)
        step.effects.append(
            .wake(.maintenance, atMilliseconds: step.nowMilliseconds + Self.maintenanceInterval))
    }

    /// - Parameter id: the id under which the outcome is reported as an event too; nil for a reply only.
    private mutating func act(
        _ action: AppAction, _ request: RequestID?, reportedAs id: ActionID? = nil, _ step: inout CoreStep
    ) {
        if self.isDuplicate(action, request, &step) { return }
        if let id, let request { self.beginAction(action, id, of: request, &step) }
        do {
            if let outcome = try self.perform(action, request, &step) { self.finish(request, outcome, &step) }
        } catch {
            self.fail(request, error, &step)
        }
    }

    /// Performs an action; nil if its outcome comes in a later turn.
    private mutating func perform(
        _ action: AppAction, _ request: RequestID?, _ step: inout CoreStep
    ) throws -> ActionOutcome? {
        switch action {
        case .pushScreen(let screen): self.push(self.resolved(screen), &step)
        case .popScreen: self.pop(&step)
        case .openChat(let chatID):
            self.push(.chat(chatID: ChatID(try self.groupID(ofChat: chatID))), &step)
        case .clearToast: self.state.toast = nil
        case .publishKeyPackage: return try self.publishKeyPackage(request, &step)
        case .findKeyPackages(let peers):
            self.search(for: peers, by: .request(request), &step)
            return nil
        case .createGroupChat, .createChat:
            self.createGroup(action, request, &step)
            return nil
        case .addGroupMembers, .removeGroupMembers, .renameGroup, .setGroupDescription, .setGroupRelays,
            .setGroupAdmins, .rotateGroupID, .setDisappearingMessages, .selfDemote, .upgradeGroup, .updateGroupKeys,
            .leaveGroup, .disbandGroup, .enableDisbanding:
            try self.changeGroup(action, request, &step)
            return nil
        case .acceptInvite(let wrapper): return .done(chatID: try self.acceptInvite(wrapper, &step))
        case .declineInvite(let wrapper): try self.declineInvite(wrapper, &step)
        case .sendMessage(let chatID, let message):
            return try self.send(message, toChat: chatID, request: request, &step)
        case .reactToMessage(let chatID, let target, let emoji):
            return try self.send(.reaction(emoji, to: target), toChat: chatID, request: request, &step)
        case .sendMedia(let chatID, let media):
            try self.sendMedia(media, toChat: chatID, request, &step)
            return nil
        case .setGroupImage(let chatID, let image?):
            try self.uploadGroupImage(image, ofChat: chatID, request, &step)
            return nil
        case .setGroupImage(let chatID, nil):
            try self.clearGroupImage(ofChat: chatID, request, &step)
            return nil
        case .setScreens, .loadOlderMessages, .archiveChat, .retryMessage, .downloadChatMedia:
            return try self.actOnChats(action, request, &step)
        case .foregrounded: step.effects.append(.reconnect)
        case .reloadConfiguration(let configuration): try self.reload(configuration, &step)
        case .saveProfile, .refreshProfile, .openPeerProfile, .closePeerProfile, .follow, .unfollow,
            .saveGroupProfile:
            return try self.actOnPeople(action, request, &step)
        case .typingStarted, .sendHypernote, .hypernoteAction: return try self.actInChat(action, request, &step)
        case .startCall, .startVideoCall, .acceptCall, .rejectCall, .endCall, .toggleMute, .toggleCamera:
            return try self.actOnCall(action, request, &step)
        case .registerPushToken, .removePushToken, .setPushNotifications: return try self.actOnPush(action, &step)
        }
        return .done(chatID: nil)
    }

    mutating func finish(_ request: RequestID?, _ outcome: ActionOutcome, _ step: inout CoreStep) {
        guard let request else { return }
        if let action = self.actionID(of: request) { self.finishAction(action, outcome, &step) }
        // A handler's action has no reply, only its outcome.
        if request.action == nil { self.inbox.report(outcome, of: request, &step) }
    }

    /// Ends an action with an error, which also shows as a toast.
    mutating func fail(_ request: RequestID?, _ error: any Error, _ step: inout CoreStep) {
        let failure = AppCoreError(cause: error)
        self.state.toast = failure.message
        self.finish(request, .failed(failure), &step)
    }

    /// Appends the changes of groups, file keys and chats to the step; called once for a whole batch of inputs.
    mutating func storeChanges(_ step: inout CoreStep) {
        self.groups.store(&step)
        self.media.store(&step)
        self.chats.store(&step)
    }
}

extension AppCoreError {
    /// Describes the failure of an action by an error of any layer.
    init(cause error: any Error) {
        switch error {
        case let error as AppCoreError: self = error
        case let error as MarmotError:
            self.init(error.code == .commitPending ? .busy : .notAllowed, error.message)
        default: self.init(.notAllowed, "\(error)")
        }
    }
}
