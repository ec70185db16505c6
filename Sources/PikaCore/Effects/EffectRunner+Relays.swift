import MLS
import Nostr

/// Effects on relays and media servers.
extension EffectRunner {
    /// The time limit of a search for stored events.
    private static let fetchTimeout = Duration.seconds(10)

    func setEndpoints(_ relays: [RelayURL], _ servers: [MediaURL]) async {
        await self.ports.transport.setConfiguredRelays(relays)
        await self.ports.media.setConfiguredServers(servers)
    }

    func publish(_ event: Event, _ row: String, to relays: [RelayURL], in group: inout TaskGroup) async {
        // Handed over here, not in the child task, so that rows are published in order.
        let reports = await self.ports.transport.publish(event, to: relays)
        self.call(in: &group) {
            for await report in reports { self.mailbox.send(.published(row: row, report)) }
            self.mailbox.send(.publishEnded(row: row, relays: relays))
        }
    }

    func fetch(_ purpose: FetchPurpose, _ filters: [Filter], from relays: [RelayURL], in group: inout TaskGroup) {
        self.call(in: &group) {
            var outcomes = await self.ports.transport.fetch(filters, from: relays, timeout: Self.fetchTimeout)
            for relay in relays where outcomes[relay] == nil { outcomes[relay] = .failed("no answer") }
            await self.mailbox.sendWhenRoom(.fetched(purpose, outcomes))
        }
    }

    func upload(_ blobs: [MediaUpload], to servers: [MediaURL], _ operation: Int, in group: inout TaskGroup) {
        self.call(in: &group) {
            let result = await self.ports.media.upload(blobs, to: servers)
            self.mailbox.send(.uploaded(operation: operation, result))
        }
    }

    func download(_ file: MediaFile, of groupID: GroupID, _ request: RequestID?, in group: inout TaskGroup) {
        self.call(in: &group) {
            let result = await self.download(file, of: groupID)
            self.mailbox.send(.downloaded(file, groupID: groupID, result, request))
        }
    }

    private func download(_ file: MediaFile, of groupID: GroupID) async -> Result<String, AppCoreError> {
        do {
            return .success(try await self.files.keep(file, of: groupID))
        } catch {
            return .failure((error as? AppCoreError) ?? AppCoreError(.mediaFailed, "the file was not stored: \(error)"))
        }
    }
}
