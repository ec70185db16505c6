package import BotConfiguration
package import BotKit
import Errors

extension BotRegistry {
    /// Creates a bot. Throws `WorkerError.Code.unknownBot`, and `WorkerError.Code.badSettings` if the bot rejects
    /// its settings.
    package func makeBot(_ name: String, settings: BotSettings) throws(WorkerError) -> any Bot {
        guard let type = self[name] else {
            throw WorkerError(.unknownBot, "unknown bot \(name); known bots: \(names.joined(separator: ", "))")
        }
        do {
            return try type.init(settings: settings)
        } catch {
            throw WorkerError(.badSettings, "bot \(name) rejects its settings", cause: error)
        }
    }
}
