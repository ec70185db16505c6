import PikaCore
import Synchronization

/// What was said last in each chat of a program, and whether it has answered. Its memory is bounded.
final class ChatTurns: Sendable {
    private static let capacity = 1_024

    private struct Turn {
        var event: CoreEvent
        var isAnswered = false
    }

    private struct State {
        var turns: [String: Turn] = [:]
        var order: [String] = []
    }

    private let state = Mutex(State())

    /// The program gets a message.
    func heard(_ event: CoreEvent) {
        guard case .message = event.content else { return }
        state.withLock { state in
            if state.turns.updateValue(Turn(event: event), forKey: event.chatID) == nil {
                state.order.append(event.chatID)
                if state.order.count > Self.capacity { state.turns[state.order.removeFirst()] = nil }
            }
        }
    }

    /// What the program answers when it says something in a chat, and whether that is its first answer; nil if it
    /// speaks unasked.
    func said(in chatID: String) -> (event: CoreEvent, isFirst: Bool)? {
        state.withLock { state in
            guard let turn = state.turns[chatID] else { return nil }
            state.turns[chatID]?.isAnswered = true
            return (turn.event, !turn.isAnswered)
        }
    }
}
