/// A text that a person sees. Every language has every key (``Texts``).
package enum TextKey: String, Hashable, Sendable, CaseIterable {
    case help
    case languageSet
    case unknownLanguage
    case notAllowed
    case privateChatOnly
    case cloudUnreachable
    case loginAskAddress
    case loginCodeSent
    case loginWrongCode
    case loginDone
    case loginNeeded
    case loginEnded
    case pairScanning
    case pairChoose
    case pairConnecting
    case pairAskWifi
    case pairJoining
    case pairDone
    case pairFailedNoAppliance
    case pairFailedConnection
    case pairFailedDevice
    case pairFailedCredentials
    case pairFailedPassphrase
    case pairFailedNetwork
    case pairFailedJoin
    case pairFailedAdapter
    case pairCancelled
    case applianceStatus
    case applianceRenamed
    case applianceChoose
    case applianceNone
    case stateIdle
    case stateCooking
    case statePaused
    case stateStopped
    case stateFailed
    case stateOffline
    case stateUnknown
    case recipesNone
    case recipeFacts
    case recipeIngredients
    case recipeSteps
    case cookOffline
    case cookStarting
    case cookStarted
    case cookRefused
    case cookExpired
    case cookBusy
    case cookNothing
    case cookProgress
    case cookStep
    case cookTimer
    case cookAlert
    case cookDanger
    case cookPaused
    case cookFinished
    case cookStopped
    case cookFailed
    case commandFailed
    case stopSent
    case stopAcknowledged
    case stopOverdue
    case cameraNone
    case historyEmpty
    case ratingSaved
    case allergensSet
    case allergensNone
    case allergensUnknown
    case preferenceSet
    case preferenceWaiting
    case groceriesEmpty
    case groceriesTitle
    case groceriesAdded
    case planEmpty
    case planAdded
    case planReminder
    case planTimeWrong
    case allergenGluten
    case allergenMilk
    case allergenEgg
    case allergenPeanut
    case allergenTreeNut
    case allergenSoy
    case allergenFish
    case allergenShellfish
    case allergenSesame
    case allergenMustard
}

extension TextKey {
    /// The name of an appliance's state.
    package init(_ state: ApplianceState) {
        self =
            switch state {
            case .idle: .stateIdle
            case .cooking: .stateCooking
            case .paused: .statePaused
            case .stopped: .stateStopped
            case .failed: .stateFailed
            case .unknown: .stateUnknown
            }
    }

    /// The explanation of a failed pairing.
    package init(_ failure: ProvisioningMachine.Failure) {
        self =
            switch failure {
            case .noAppliance: .pairFailedNoAppliance
            case .connectionFailed, .discoveryTimedOut: .pairFailedConnection
            case .wrongDevice: .pairFailedDevice
            case .noCredentials: .pairFailedCredentials
            case .wrongPassphrase: .pairFailedPassphrase
            case .noNetwork: .pairFailedNetwork
            case .joinFailed, .joinTimedOut: .pairFailedJoin
            case .adapterFailed: .pairFailedAdapter
            case .cancelled: .pairCancelled
            }
    }

    /// The end of a cooking session.
    package init(_ outcome: CookingOutcome) {
        self =
            switch outcome {
            case .finished: .cookFinished
            case .stopped: .cookStopped
            case .failed: .cookFailed
            }
    }
}
