import Appliance
import BotKit

/// Pictures of an appliance's camera.
extension Kitchen {
    /// One picture of the stream, or else of the snapshot; nil if the camera cannot be reached.
    func snapshot(of appliance: String) async -> [UInt8]? {
        guard settings.localNetwork, let record = state.household.appliances.first(where: { $0.id == appliance }) else {
            return nil
        }
        if let request = await client.local(.cameraStream, record, timeout: .seconds(5)) {
            let reader = CameraReader(clock: services.clock)
            // The reader ends the endless answer with an error once it has a picture.
            try? await services.http.stream(request) { try await reader.receive($0) }
            if let picture = await reader.picture { return picture }
        }
        guard case .answered(200, let bytes) = await client.send(.cameraSnapshot, to: record, timeout: .seconds(5)),
            bytes.starts(with: [0xff, 0xd8])
        else { return nil }
        return bytes
    }
}
