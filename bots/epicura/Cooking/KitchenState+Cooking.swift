import Appliance
import BotKit

/// What follows from a session's effects: notices, records of the history, and requests.
extension KitchenState {
    /// Seconds between two small changes of a progress message.
    private static let progressInterval: Int64 = 15
    private static let maximumFinished = 64

    /// Applies the effects of an order's session.
    mutating func apply(
        _ effects: [CookingSession.Effect], of id: String, now: UnixTime, _ settings: EpicuraSettings
    ) -> [KitchenWork] {
        var works: [KitchenWork] = []
        for effect in effects {
            guard let order = cooking.orders.first(where: { $0.id == id }) else { return works }
            switch effect {
            case .send(let command, let route):
                works.append(.send(command, route, appliance: order.session.applianceID))
            case .readStatus: works.append(.readStatus(order: id))
            case .report(let report): works += self.report(report, of: order, now, settings)
            }
        }
        if let order = cooking.orders.first(where: { $0.id == id }), order.hasBegun, !order.session.isActive {
            finish(id)
        }
        return works
    }

    /// Removes an order; its id is remembered.
    mutating func finish(_ id: String) {
        cooking.orders.removeAll { $0.id == id }
        cooking.finishedOrders.append(id)
        if cooking.finishedOrders.count > Self.maximumFinished { cooking.finishedOrders.removeFirst() }
    }

    private mutating func report(
        _ report: CookingSession.Report, of order: CookingOrder, _ now: UnixTime, _ settings: EpicuraSettings
    ) -> [KitchenWork] {
        let (id, chat, title) = (order.id, order.chat, order.session.recipe.title)
        switch report {
        case .started: tell("\(id)/started", chat, .cookStarted, ["title": title], in: settings)
        case .refused(let reason):
            let key: TextKey = reason == APIProblem.Known.busy ? .cookBusy : .cookRefused
            tell("\(id)/refused", chat, key, ["reason": reason], people: [order.person], in: settings)
        case .expired: tell("\(id)/expired", chat, .cookExpired, people: [order.person], in: settings)
        case .commandFailed(let kind, let reason):
            tell("\(id)/failed-\(kind.rawValue)-\(now.seconds)", chat, .commandFailed, ["reason": reason], in: settings)
        case .progress(let status): progress(status, of: order, now, settings)
        case .step(let index, let step):
            let values = ["step": "\(index + 1)", "text": step.text]
            tell("\(id)/step-\(index)", chat, .cookStep, values, in: settings)
            if settings.stepPictures, settings.localNetwork {
                tell(
                    Notice(
                        id: "\(id)/picture-\(index)", chat: chat,
                        .snapshot(appliance: order.session.applianceID, file: "step-\(index + 1).jpg")))
            }
        case .timer(let label):
            tell(
                "\(id)/timer-\(label)-\(now.seconds)", chat, .cookTimer, ["label": label], people: [order.person],
                in: settings)
        case .alert(let alert): self.alert(alert, in: chat, person: order.person, settings)
        case .ended(let record):
            history.unfiled.append(record)
            history.file()
            let text = self.text(TextKey(record.outcome), ["title": title], for: chat, settings)
            tell(
                Notice(id: "\(id)/ended", chat: chat, .ended(session: record.id, text, people: [order.person])))
            return [.synchronize]
        }
        return []
    }

    private mutating func progress(
        _ status: CookingStatus, of order: CookingOrder, _ now: UnixTime, _ settings: EpicuraSettings
    ) {
        // The end has a message of its own.
        guard !status.phase.isFinal, let index = cooking.orders.firstIndex(where: { $0.id == order.id }) else { return }
        let isSmall = order.told.map { $0.phase == status.phase && $0.step == status.step } ?? false
        if isSmall, let toldAt = order.toldAt, now.seconds(since: toldAt) < Self.progressInterval { return }
        cooking.orders[index].told = status
        cooking.orders[index].toldAt = now
        let minutes = status.remainingSeconds.clampedAdding(59) / 60
        let values = [
            "title": order.session.recipe.title, "percent": "\(status.percent)", "step": "\(status.step + 1)",
            "steps": "\(status.stepCount)", "minutes": "\(minutes)",
        ]
        let key: TextKey = status.phase == .paused ? .cookPaused : .cookProgress
        let text = self.text(key, values, for: order.chat, settings)
        tell(
            Notice(
                id: "\(order.id)/progress-\(status.revision)", chat: order.chat,
                .progress(session: status.sessionID, text, isSmall: isSmall)))
    }

    /// Ends a session that the appliance no longer has: its end was missed, and is recorded as a failure.
    ///
    /// - Parameter status: The latest session of the appliance; nil if there is none.
    mutating func loseSession(
        of id: String, unlessIn status: CookingStatus?, now: UnixTime, _ settings: EpicuraSettings
    ) -> [KitchenWork] {
        guard let order = cooking.orders.first(where: { $0.id == id }), order.session.isActive,
            let session = order.session.sessionID, status?.sessionID != session
        else { return [] }
        let record = HistoryRecord(
            id: session, applianceID: order.session.applianceID, recipeID: order.session.recipe.id,
            title: order.session.recipe.title, servings: order.session.servings, outcome: .failed,
            startedAt: order.session.status?.startedAt ?? order.askedAt, endedAt: now)
        let works = report(.ended(record), of: order, now, settings)
        finish(id)
        return works
    }

    /// Tells a chat of an alert: everyone of a danger, the person who cooks if an action is needed.
    mutating func alert(
        _ alert: LiveEvent.Alert, in chat: String, person: String?, _ settings: EpicuraSettings
    ) {
        let people = alert.severity == .information ? [] : [person].compactMap(\.self)
        let isDanger = alert.severity == .danger
        tell(
            "alert-\(alert.id)-\(chat)", chat, isDanger ? .cookDanger : .cookAlert, ["text": alert.text],
            people: people, everyone: isDanger, in: settings)
    }
}
