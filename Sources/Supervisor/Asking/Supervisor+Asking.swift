public import Foundation

extension Supervisor {
    /// Asks a worker, `{"ask":…,"id":…}` with the parameters beside them, and returns the JSON of its result.
    ///
    /// - Parameter limit: how long the worker may take.
    /// - Throws: ``SupervisorError/Code/unknownWorker``, ``SupervisorError/Code/notRunning``,
    ///   ``SupervisorError/Code/tooManyAsks``, ``SupervisorError/Code/noAnswer`` when the time is over or the worker ends
    ///   first, and ``SupervisorError/Code/refused`` with the worker's words.
    public func ask(
        _ worker: String, _ ask: String, _ parameters: [String: ControlValue] = [:],
        within limit: Duration = .seconds(10)
    ) async throws(SupervisorError) -> Data {
        guard let index = machine.index(of: worker) else {
            throw SupervisorError(.unknownWorker, "no worker is named \(worker)")
        }
        guard let control = controls[index] else { throw SupervisorError(.notRunning, "\(worker) does not run") }
        guard let id = asks.nextID() else {
            throw SupervisorError(.tooManyAsks, "\(PendingAsks.maximum) questions wait for an answer already")
        }
        var line = parameters
        line["ask"] = .string(ask)
        line["id"] = .integer(id)
        let outcome: PendingAsks.Outcome = await withCheckedContinuation { continuation in
            asks.add(id, worker: index, continuation)
            guard control.send(ControlValue.object(line).json) else {
                let error = SupervisorError(.tooManyAsks, "\(worker) does not read what it is asked")
                asks.answer(id, .failure(error))
                return
            }
            nextStep.yield(.expire(ask: id, of: worker, after: limit))
        }
        return try outcome.get()
    }

    func expire(_ id: Int64, of worker: String, after limit: Duration) async {
        guard (try? await clock.sleep(for: limit)) != nil else { return }
        asks.answer(id, .failure(SupervisorError(.noAnswer, "\(worker) did not answer within \(limit)")))
    }

    func received(_ answer: WorkerLine.Answer, from worker: Int) {
        switch answer.outcome {
        case .success(let result): asks.answer(answer.id, from: worker, .success(result))
        case .failure(let refusal):
            asks.answer(answer.id, from: worker, .failure(SupervisorError(.refused, refusal.text)))
        }
    }
}
