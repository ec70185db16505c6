import BotConfiguration
import BotKit
import BotStorage
import Logging
import Nostr
import PikaCore
import ServiceLifecycle

/// Runs what bots keep open between handlers: connections, outboxes, renewals of tokens, and copies of databases.
///
/// It ends after the handlers: then the tasks are cancelled and the database files closed. Requests of an outbox
/// continue after the next start.
struct BotResourceService: Service {
    let resources: BotResources
    let databases: StoredDatabases
    /// The age at which the copy of a database file is renewed; nil for never.
    let backup: Duration?
    let clock: SystemClock
    let logger: Logger

    /// The interval of the checks for old copies, in milliseconds.
    private static let checks: Int64 = 60_000
    /// The interval of the measurements of sizes, in milliseconds.
    private static let measurements: Int64 = 10_000

    func run() async throws {
        await withGracefulShutdownHandler {
            await withDiscardingTaskGroup { group in
                group.addTask { await backUp() }
                group.addTask { await measure() }
                await resources.background.run()
                group.cancelAll()
            }
        } onGracefulShutdown: {
            resources.background.finish()
        }
        await databases.close()
    }

    private func measure() async {
        while !Task.isCancelled {
            ResourceMetrics.record(await databases.sizes)
            let next = clock.monotonicMilliseconds.clampedAdding(Self.measurements)
            do { try await clock.sleep(untilMonotonicMilliseconds: next) } catch { return }
        }
    }

    private func backUp() async {
        guard let backup else { return }
        while !Task.isCancelled {
            for (file, error) in await databases.backUp(olderThan: backup, nowMilliseconds: clock.nowMilliseconds) {
                logger.error(
                    "Copying a bot's database failed", metadata: ["file": "\(file)", "error": "\(error.message)"])
            }
            let next = clock.monotonicMilliseconds.clampedAdding(Self.checks)
            do { try await clock.sleep(untilMonotonicMilliseconds: next) } catch { return }
        }
    }
}

extension DatabaseLimits {
    init(_ configuration: DatabaseConfiguration) {
        self.init(bytes: configuration.bytes ?? 0, timeout: configuration.timeout)
        if configuration.bytes == nil { files = 0 }
    }
}
