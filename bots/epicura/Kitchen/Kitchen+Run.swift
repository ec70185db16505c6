import Appliance
import BotKit

/// The loop beside the handlers.
extension Kitchen {
    /// Performs requests and deadlines until cancellation.
    func run() async {
        await withDiscardingTaskGroup { group in
            for await _ in wakeStream {
                do { try await load() } catch {
                    // The disk may recover.
                    let later = services.clock.nowMilliseconds.clampedAdding(5_000)
                    group.addTask { await self.sleep(until: later) }
                    continue
                }
                let follow = await advance()
                pump(follow, into: &group)
                await connect()
                await deliver()
                if let next = nextTime, next < timer ?? .max {
                    timer = next
                    group.addTask { await self.sleep(until: next) }
                }
            }
            group.cancelAll()
        }
    }

    private func sleep(until time: Int64) async {
        do { try await services.clock.sleep(untilMilliseconds: time) } catch { return }
        if timer == time { timer = nil }
        wake()
    }

    /// When the loop has to run again, Unix milliseconds; at least 200 ms from now.
    private var nextTime: Int64? {
        var times = state.cooking.orders.compactMap { $0.session.deadline }
        times += state.cooking.orders.filter { !$0.hasBegun }.map { $0.askedAt + CookingSession.lifetime }
        times += state.cooking.stops.compactMap { $0.stop.nextAttempt }
        times += state.household.chats.values.compactMap { $0.plan?.nextReminder }
        times += [nextReading, nextSynchronization, nextDelivery].compactMap(\.self)
        guard let next = times.min() else { return nil }
        return max(next.milliseconds, services.clock.nowMilliseconds.clampedAdding(200))
    }

    // MARK: Deadlines

    /// Applies the passing of time, and returns the requests that follow: stops always, others only once the state is
    /// stored.
    private func advance() async -> [KitchenWork] {
        let now = now
        var follow = works
        works = []
        let (reach, settings) = (reach, settings)
        follow += edit { $0.advance(to: now, reach: reach, settings) }
        if nextReading.map({ $0 <= now }) ?? false {
            nextReading = nil
            follow += state.cooking.orders.filter { $0.hasBegun && $0.session.deadline == nil }.map {
                .readStatus(order: $0.id)
            }
        }
        if nextSynchronization.map({ $0 <= now }) ?? false {
            nextSynchronization = nil
            follow.append(.synchronize)
        }
        for stop in state.cooking.stops where stop.stop.nextAttempt.map({ $0 <= now }) ?? false {
            _ = queue.appendEmergencyStop(of: stop.stop.applianceID)
        }
        do { try await commit() } catch {
            works += follow
            nextDelivery = now + 5
            return []
        }
        return follow
    }

    // MARK: Requests

    /// Starts requests: stops first, then commands, then the rest.
    private func pump(_ follow: [KitchenWork], into group: inout DiscardingTaskGroup) {
        let now = now
        for work in follow {
            switch work {
            case .send(let command, let route, let appliance):
                // Full only with more commands than appliances; it is repeated two seconds later.
                try? queue.append(command, to: appliance, by: route)
            case .readStatus(let order): try? queue.appendBackground(key: "status \(order)")
            case .synchronize: try? queue.appendBackground(key: "all")
            }
        }
        while let entry = queue.popFirst(now: now) {
            switch entry {
            case .emergencyStop(let appliance):
                for (request, route) in attempts(of: appliance, now) {
                    group.addTask { await self.send(request, to: appliance, by: route) }
                }
            case .command(let command, let appliance, let route):
                group.addTask { await self.send(command, to: appliance, by: route) }
            case .background("all"):
                guard !isSynchronizing else {
                    mustSynchronize = true
                    continue
                }
                isSynchronizing = true
                group.addTask { await self.synchronize() }
            case .background(let key):
                let order = String(key.dropFirst("status ".count))
                guard reading.insert(order).inserted else { continue }
                group.addTask { await self.readStatus(of: order) }
            }
        }
        _ = queue.removeExpired(now: now)
        for order in state.cooking.orders where !order.hasBegun && beginning.insert(order.id).inserted {
            let id = order.id
            group.addTask { await self.begin(id) }
        }
    }

    /// The attempts of an appliance's stop that are due.
    func attempts(of appliance: String, _ now: UnixTime) -> [(EmergencyStopRequest, ApplianceRoute)] {
        edit { state in
            guard let index = state.cooking.stops.firstIndex(where: { $0.stop.applianceID == appliance }) else {
                return []
            }
            let routes = state.cooking.stops[index].stop.attempt(at: now)
            let request = state.cooking.stops[index].stop.request
            return routes.map { (request, $0) }
        }
    }

    // MARK: Notices

    private static let noticesAtOnce = 8

    /// Brings the waiting notices into the inbox, in order. One that is there already is ignored by its id.
    private func deliver() async {
        nextDelivery = nil
        // Few at a time, so that stops and commands need not wait for many.
        for _ in 0..<Self.noticesAtOnce {
            guard let notice = state.cooking.outbox.first else { return }
            do throws(BotError) {
                try await services.inbox.add(try notice.item(of: services.bot))
            } catch {
                guard error.code != .requestFailed else {
                    edit { $0.cooking.outbox.removeAll { $0.id == notice.id } }
                    continue
                }
                nextDelivery = now + 5
                return
            }
            edit { $0.cooking.outbox.removeAll { $0.id == notice.id } }
        }
        wake()
    }
}

extension KitchenState {
    /// Applies the passing of time to sessions, stops and planned meals.
    mutating func advance(
        to now: UnixTime, reach: [String: CookingSession.Reach], _ settings: EpicuraSettings
    ) -> [KitchenWork] {
        var works: [KitchenWork] = []
        for order in cooking.orders {
            guard let index = cooking.orders.firstIndex(where: { $0.id == order.id }) else { continue }
            guard order.hasBegun else {
                // Nothing was sent, and nothing will be.
                guard now.seconds(since: order.askedAt) >= CookingSession.lifetime else { continue }
                tell("\(order.id)/expired", order.chat, .cookExpired, people: [order.person], in: settings)
                finish(order.id)
                continue
            }
            let ways = reach[order.session.applianceID] ?? CookingSession.Reach(byCloud: true, byLocalNetwork: true)
            let effects = cooking.orders[index].session.advance(to: now, reach: ways)
            works += apply(effects, of: order.id, now: now, settings)
        }
        for index in cooking.stops.indices where !cooking.stops[index].isOverdueTold {
            let pending = cooking.stops[index]
            guard pending.stop.isOverdue(at: now) else { continue }
            cooking.stops[index].isOverdueTold = true
            tell("stop-\(pending.stop.request.id)/overdue", pending.chat, .stopOverdue, everyone: true, in: settings)
        }
        for chat in household.chats.keys.sorted() {
            guard let due = household.chats[chat]?.plan?.dueReminders(now: now) else { continue }
            for meal in due {
                let values = ["title": meal.title, "time": meal.time.text]
                tell("meal-\(meal.id)-\(chat)", chat, .planReminder, values, everyone: true, in: settings)
            }
        }
        return works
    }
}
