import Appliance
import BotKit

/// `/camera`.
enum CameraHandlers {
    @HandlerBuilder
    static func all(_ settings: EpicuraSettings) -> [Handler] {
        OnCommand("camera") { command, context in
            let kitchen = try await Kitchen.of(context, settings)
            switch await kitchen.choose(CookingHandlers.reference(command), for: context.chatID) {
            case .unclear(let text): context.reply(text)
            case .appliance(let appliance):
                // Beside the chat, whose next message may be an emergency stop.
                let id = "camera-\(command.message.id.hex)"
                try await kitchen.change { state, _ in
                    state.tell(
                        Notice(
                            id: id, chat: context.chatID.rawValue,
                            .snapshot(appliance: appliance.id, file: "camera.jpg")))
                }
                await kitchen.wake()
            }
        }
    }
}
