import Synchronization

/// Objects of services that all handlers of a bot share, for as long as the runtime runs.
package final class BotResources: Sendable {
    /// The most connections, pipelines and outboxes of one bot, each.
    package static let maximumPerBot = 16

    private struct Name: Hashable {
        let kind: ObjectIdentifier
        let bot: String
        let name: String
    }

    package let background = BackgroundTasks()
    package let observe: BotResourceEvent.Observer
    private let objects = Mutex<[Name: any Sendable]>([:])

    /// - Parameter observe: Receives what happens to the objects; called from any task.
    package init(observe: @escaping BotResourceEvent.Observer = { _, _, _ in }) {
        self.observe = observe
    }

    /// Returns the object of this type and name, which `make` creates if it is missing, and whether it is new.
    ///
    /// Throws `BotError.Code.limitReached` for more than ``maximumPerBot`` of a bot.
    package func object<Object: Sendable>(
        _ name: String, of bot: String, _ make: () throws(BotError) -> Object
    ) throws(BotError) -> (object: Object, isNew: Bool) {
        let key = Name(kind: ObjectIdentifier(Object.self), bot: bot, name: name)
        let result: Result<(Object, Bool), BotError> = objects.withLock { objects in
            if let known = objects[key] as? Object { return .success((known, false)) }
            let count = objects.keys.filter { $0.kind == key.kind && $0.bot == bot }.count
            guard count < Self.maximumPerBot else {
                return .failure(BotError(.limitReached, "a bot can have at most \(Self.maximumPerBot) of these"))
            }
            do throws(BotError) {
                let object = try make()
                objects[key] = object
                return .success((object, true))
            } catch {
                return .failure(error)
            }
        }
        let (object, isNew) = try result.get()
        return (object, isNew)
    }
}
