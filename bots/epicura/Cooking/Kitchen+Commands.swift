import Appliance
import BotKit

/// Starts, other commands and the status of sessions.
extension Kitchen {
    /// Asks for a session; the start is sent once the appliance was reached. Returns what to answer.
    func cook(
        _ recipe: Recipe, servings: Int, on appliance: String, order id: String, chat: ChatID, person: PublicKey
    ) async throws -> String {
        let settings = settings
        let key: TextKey = try await update { state, now in
            // The handler runs again after a crash.
            if state.cooking.finishedOrders.contains(id) || state.cooking.orders.contains(where: { $0.id == id }) {
                return (.cookStarting, [])
            }
            guard !state.cooking.orders.contains(where: { $0.session.applianceID == appliance }) else {
                return (.cookBusy, [])
            }
            let session = try CookingSession(applianceID: appliance, recipe: recipe, servings: servings)
            state.cooking.orders.append(
                CookingOrder(id: id, chat: chat.rawValue, person: person.hex, askedAt: now, session: session))
            return (.cookStarting, [])
        }
        return Texts.text(key, ["title": recipe.title], in: state.language(of: chat.rawValue, settings))
    }

    /// Reaches the appliance, and sends the start or refuses it: a start never waits for an appliance.
    func begin(_ id: String) async {
        guard let order = state.cooking.orders.first(where: { $0.id == id }), !order.hasBegun else { return }
        let ways = await findReach(of: order.session.applianceID)
        let settings = settings
        try? await update { state, now in
            guard let index = state.cooking.orders.firstIndex(where: { $0.id == id }) else { return ((), []) }
            do throws(ApplianceError) {
                guard now.seconds(since: order.askedAt) < CookingSession.lifetime else { return ((), []) }
                let effects = try state.cooking.orders[index].session.start(commandID: id, reach: ways, now: now)
                state.cooking.orders[index].hasBegun = true
                return ((), state.apply(effects, of: id, now: now, settings))
            } catch {
                state.tell("\(id)/offline", order.chat, .cookOffline, people: [order.person], in: settings)
                state.finish(id)
                return ((), [])
            }
        }
        beginning.remove(id)
    }

    /// Sends another command to the session of an appliance. Returns what to answer; nil if the progress will tell.
    func command(_ kind: CommandKind, to appliance: String, id: String, chat: ChatID) async throws -> String? {
        let settings = settings
        let ways = reach[appliance] ?? CookingSession.Reach(byCloud: true, byLocalNetwork: true)
        return try await update { state, now in
            guard let index = state.cooking.orders.firstIndex(where: { $0.session.applianceID == appliance }) else {
                return (state.text(.cookNothing, for: chat.rawValue, settings), [])
            }
            let order = state.cooking.orders[index].id
            do throws(ApplianceError) {
                let effects = try state.cooking.orders[index].session.command(
                    kind, commandID: id, reach: ways, now: now)
                return (nil, state.apply(effects, of: order, now: now, settings))
            } catch {
                let reason = ["reason": "\(error.code)"]
                return (state.text(.commandFailed, reason, for: chat.rawValue, settings), [])
            }
        }
    }

    // MARK: Requests

    /// Sends one attempt of a command, and applies its receipt.
    func send(_ command: CommandRequest, to appliance: String, by route: ApplianceRoute) async {
        guard let request = try? APIRequest.command(command, to: appliance, by: route) else { return }
        let answer = await send(request, to: appliance, by: route, timeout: .seconds(5))
        var receipt = answer.value(CommandReceipt.self)
        if answer.refusal == APIProblem.Known.applianceOffline {
            // The other way, if there is one, before the expiry.
            reach[appliance]?.byCloud = false
        } else if answer == .signedOut {
            await sessionEnded()
        } else if receipt == nil, let reason = answer.refusal {
            receipt = CommandReceipt(id: command.id, state: .refused, reason: reason)
        }
        guard let receipt else { return wake() }
        await apply(to: appliance) { $0.receive(receipt) }
    }

    /// Reads the status of an order's session, which tells what became of a command without an answer.
    func readStatus(of id: String) async {
        defer { reading.remove(id) }
        guard let appliance = state.cooking.orders.first(where: { $0.id == id })?.session.applianceID,
            let request = try? APIRequest.session(of: appliance)
        else { return }
        let answer = await client.send(request)
        guard case .answered(let status, _) = answer, status == 204 || answer.isSuccess else {
            nextReading = now + 5
            return wake()
        }
        let found = status == 204 ? nil : answer.value(CookingStatus.self)
        await apply(to: appliance) { session in
            // A status of another start is no session of this one.
            (found.map { session.receive($0) } ?? []) + session.receiveNoSession()
        }
        let settings = settings
        try? await update { state, now in ((), state.loseSession(of: id, unlessIn: found, now: now, settings)) }
    }

    private func apply(
        to appliance: String, _ change: @Sendable (inout CookingSession) -> [CookingSession.Effect]
    ) async {
        let settings = settings
        try? await update { state, now in
            guard let index = state.cooking.orders.firstIndex(where: { $0.session.applianceID == appliance }) else {
                return ((), [])
            }
            let effects = change(&state.cooking.orders[index].session)
            return ((), state.apply(effects, of: state.cooking.orders[index].id, now: now, settings))
        }
    }

    func send(
        _ request: APIRequest, to appliance: String, by route: ApplianceRoute, timeout: Duration
    ) async -> CloudAnswer {
        switch route {
        case .cloud: return await client.send(request, timeout: timeout)
        case .local:
            guard settings.localNetwork, let record = state.household.appliances.first(where: { $0.id == appliance })
            else { return .unreachable }
            return await client.send(request, to: record, timeout: timeout)
        }
    }

    /// Asks the cloud and the appliance at the same time whether they can be reached now.
    private func findReach(of appliance: String) async -> CookingSession.Reach {
        async let cloud = client.send(.appliances, timeout: .seconds(3))
        async let local = send(.localStatus, to: appliance, by: .local, timeout: .seconds(3))
        let list = await cloud.value(ApplianceList.self)
        let isLocal = await local.value(ApplianceRecord.self)?.id == appliance
        let isOnline = list?.items.first { $0.id == appliance }?.isOnline ?? false
        let ways = CookingSession.Reach(byCloud: isOnline, byLocalNetwork: isLocal)
        reach[appliance] = ways
        return ways
    }
}
