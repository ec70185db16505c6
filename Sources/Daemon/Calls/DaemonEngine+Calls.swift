import PikaCore

/// Performs the reactions to a changed call; ``CallProgress`` decides on them.
extension DaemonEngine {
    func announceCallChanges() async {
        for reaction in self.machine.receiveCall() {
            switch reaction {
            case .dispatch(let action): self.core.dispatch(action)
            case .announce(let event): await self.announce([event])
            case .announceTransient(let event): await self.announceTransient(event)
            case .followMedia(let callID): self.followMedia(of: callID)
            }
        }
    }

    private func followMedia(of callID: String) {
        guard let media = self.core.callMedia(callID: callID), self.machine.calls.beginMedia(of: callID) else { return }
        let recorder = CallRecorder(directory: self.machine.settings.mediaDirectory, logger: self.logger) {
            [weak self] event in await self?.announceTransient(event)
        }
        self.streams.background.yield { await recorder.receive(media) }
    }
}
