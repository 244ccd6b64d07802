class ApplicationController < RageController::API
end
